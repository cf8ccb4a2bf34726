// @vitest-environment jsdom
import { Menu } from '@mantine/core';
import { screen } from '@testing-library/react';
import { useState } from 'react';
import { expect, test, vi } from 'vitest';
import { Drawer } from './Drawer';
import { draw } from './testing/render';

function Page({ onStep }: { onStep?: (step: 1 | -1) => void }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Open
      </button>
      {isOpen && (
        <Drawer
          reference="R-1"
          title="Laptop stolen"
          name="R-1 Laptop stolen"
          onClose={() => setOpen(false)}
          onStep={onStep}
          more={<Menu.Item>Delete</Menu.Item>}
        >
          <input aria-label="Inside" />
        </Drawer>
      )}
    </>
  );
}

test('it takes the focus when it opens and gives it back when it closes', async () => {
  const { user } = draw(<Page />);
  await user.click(screen.getByRole('button', { name: 'Open' }));
  expect(document.activeElement).toBe(screen.getByRole('heading', { name: 'Laptop stolen' }));
  await user.keyboard('{Escape}');
  expect(screen.queryByRole('complementary')).toBeNull();
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Open' }));
});

test('Escape in a menu closes the menu alone', async () => {
  const { user } = draw(<Page />);
  await user.click(screen.getByRole('button', { name: 'Open' }));
  await user.click(screen.getByRole('button', { name: 'More actions' }));
  expect(screen.getByRole('menuitem', { name: 'Delete' })).toBeTruthy();
  await user.keyboard('{Escape}');
  expect(screen.getByRole('complementary', { name: 'R-1 Laptop stolen' })).toBeTruthy();
});

test('it steps to the next record and the one before', async () => {
  const step = vi.fn();
  const { user } = draw(<Page onStep={step} />);
  await user.click(screen.getByRole('button', { name: 'Open' }));
  await user.click(screen.getByRole('button', { name: 'Next record' }));
  await user.click(screen.getByRole('button', { name: 'Previous record' }));
  expect(step.mock.calls).toEqual([[1], [-1]]);
});

test('Escape closes it when the focus was lost to the page, unless something else is open', async () => {
  const { user } = draw(<Page />);
  await user.click(screen.getByRole('button', { name: 'Open' }));
  (document.activeElement as HTMLElement).blur();
  const dialog = document.body.appendChild(document.createElement('div'));
  dialog.setAttribute('role', 'dialog');
  await user.keyboard('{Escape}');
  expect(screen.getByRole('complementary')).toBeTruthy();
  dialog.remove();
  await user.keyboard('{Escape}');
  expect(screen.queryByRole('complementary')).toBeNull();
});
