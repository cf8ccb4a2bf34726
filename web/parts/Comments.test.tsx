// @vitest-environment jsdom
import { screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { Composer } from './Comments';
import { Drawer } from './Drawer';
import { answer, draw } from './testing/render';

vi.mock('./search', () => ({ useView: () => ({ view: {} }) }));
afterEach(() => vi.unstubAllGlobals());

test('Escape in the list of people closes the list, and only then the drawer', async () => {
  const person = { id: 'mem_2', user: { id: 'usr_2', name: 'Rafael Costa', email: 'r@example.com' }, isActive: true };
  answer({ '/v1/people': () => ({ body: { data: [person], count: 1, nextCursor: null } }) });
  const close = vi.fn();
  const { user } = draw(
    <Drawer reference="R-1" title="Laptop stolen" name="R-1 Laptop stolen" onClose={close}>
      <Composer entityType="risk" entityId="rsk_1" />
    </Drawer>,
    ['member:read'],
  );
  const box = screen.getByRole('textbox', { name: 'Write a comment' });
  await user.type(box, 'Look, @Raf');
  await screen.findByRole('option', { name: 'Rafael Costa' });
  await user.keyboard('{Escape}');
  expect(close).not.toHaveBeenCalled();
  await waitFor(() => expect(screen.queryByRole('option')).toBeNull());
  await user.keyboard('{Escape}');
  expect(close).toHaveBeenCalledTimes(1);
});
