// @vitest-environment jsdom
import { screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { onExpiry } from '../../api/expiry';
import { answer, draw } from '../testing/render';
import type { Formed } from './definition';
import { NewRecord } from './NewRecord';

afterEach(() => {
  vi.unstubAllGlobals();
  onExpiry(undefined);
});

const d: Formed = {
  path: '/v1/risks',
  nameField: 'title',
  labels: { title: 'Title' },
  fields: [{ name: 'title', kind: 'text', asked: true }],
  texts: { new: 'New risk', one: 'risk', many: 'risks' },
};

test('a record sent after the session has ended is saved once the reader has signed in', async () => {
  let isSignedIn = false;
  const detail = 'Authentication required. Sign in, or send an API key in the X-API-Key header.';
  answer({
    '/v1/people': () => ({ body: { data: [], count: 0, nextCursor: null } }),
    '/v1/risks': () =>
      isSignedIn ? { body: { id: 'rsk_1' } } : { status: 401, body: { status: 401, code: 'unauthenticated', detail } },
  });
  let signedIn = () => undefined as unknown;
  onExpiry(
    () =>
      new Promise((resolve) => {
        signedIn = () => resolve();
      }),
  );
  const created = vi.fn();
  const { user } = draw(<NewRecord d={d} onClose={() => undefined} onCreated={created} />);
  await user.type(screen.getByRole('textbox', { name: 'Title' }), 'Laptop stolen{Enter}');
  await waitFor(() => expect(screen.getByRole('alert').textContent).toContain('your session has ended'));
  expect(created).not.toHaveBeenCalled();
  isSignedIn = true;
  signedIn();
  await waitFor(() => expect(created).toHaveBeenCalledWith({ id: 'rsk_1' }));
});
