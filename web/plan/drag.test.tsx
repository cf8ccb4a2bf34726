// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { draw } from '../parts/testing/render';
import { useDrag, Weeks } from './drag';
import type { Item } from './queries';
import type { Week } from './rows';

const task = { id: 'tsk_1', kind: 'task', reference: 'T-1', title: 'Review access', state: 'due' } as Item;
const done = { ...task, id: 'tsk_2', reference: 'T-2', state: 'done' } as Item;
const week = (number: number, startsOn: string, endsOn: string): Week => ({ number, startsOn, endsOn, count: 0 });
const weeks = [week(1, '2026-11-02', '2026-11-08'), week(2, '2026-11-09', '2026-11-15')];

type Props = { onDrop?: (item: Item, to: Week) => void; onKey?: (item: Item, by: 1 | -1) => void };

function List({ onDrop = vi.fn(), onKey = vi.fn() }: Props) {
  const { frame, drag } = useDrag({ items: [task, done], weeks, isMovable: ({ state }) => state !== 'done', onDrop, onKey });
  return (
    <div ref={frame}>
      {[task, done].map(({ id, reference }) => (
        <div key={id} data-row={id}>
          <button type="button">Open {reference}</button>
          <span data-drag data-testid={reference} />
        </div>
      ))}
      {drag && <Weeks drag={drag} weeks={weeks} />}
    </div>
  );
}

/** The pointer is over this week. */
function over(startsOn: string | undefined) {
  const find = () => document.querySelector(`[data-group="${startsOn}"]`);
  document.elementFromPoint = find;
}
// jsdom has no pointer events.
const point = (target: Element | Window, name: string, clientX: number) =>
  fireEvent(target, new MouseEvent(name, { clientX, clientY: 0, button: 0, bubbles: true, cancelable: true }));
const grab = (reference: string) => point(screen.getByTestId(reference), 'pointerdown', 0);
const move = (clientX: number) => point(window, 'pointermove', clientX);
const drop = (clientX: number) => point(window, 'pointerup', clientX);

afterEach(() => {
  document.elementFromPoint = () => null;
});

test('an item is dropped on the week under the pointer, which is shown', () => {
  const onDrop = vi.fn();
  draw(<List onDrop={onDrop} />);
  grab('T-1');
  over(undefined);
  move(2);
  expect(screen.queryByText('Move T-1 to')).toBeNull();
  move(20);
  expect(screen.getByText('Move T-1 to')).toBeTruthy();
  over('2026-11-09');
  move(30);
  expect(document.querySelector('[data-group="2026-11-09"]')?.hasAttribute('data-over')).toBe(true);
  drop(30);
  expect(onDrop).toHaveBeenCalledWith(task, weeks[1]);
  expect(screen.queryByText('Move T-1 to')).toBeNull();
});

test('Escape and a drop outside of the weeks move nothing', () => {
  const onDrop = vi.fn();
  draw(<List onDrop={onDrop} />);
  grab('T-1');
  over('2026-11-09');
  move(20);
  fireEvent.keyDown(window, { key: 'Escape' });
  drop(20);
  grab('T-1');
  over(undefined);
  move(20);
  drop(20);
  expect(onDrop).not.toHaveBeenCalled();
});

test('what may not be moved stays', async () => {
  const key = vi.fn();
  const { user } = draw(<List onKey={key} />);
  grab('T-2');
  move(20);
  expect(screen.queryByText(/^Move/)).toBeNull();
  screen.getByRole('button', { name: 'Open T-2' }).focus();
  await user.keyboard('{Alt>}{ArrowDown}{/Alt}');
  expect(key).not.toHaveBeenCalled();
});

test('Alt and the arrows move the row with the focus', async () => {
  const key = vi.fn();
  const { user } = draw(<List onKey={key} />);
  screen.getByRole('button', { name: 'Open T-1' }).focus();
  await user.keyboard('{Alt>}{ArrowDown}{ArrowUp}{/Alt}{ArrowDown}');
  expect(key.mock.calls).toEqual([
    [task, 1],
    [task, -1],
  ]);
});
