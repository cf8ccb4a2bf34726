// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/react';
import { useState } from 'react';
import { expect, test, vi } from 'vitest';
import { draw } from '../parts/testing/render';
import type { Answers } from './answers';
import { Grid } from './Grid';
import type { Patch, Row } from './logic';

const row = (id: string, code: string, isApplicable?: boolean): Row =>
  ({
    question: { id, code, title: `Control ${code}`, theme: 'Organizational', objective: null },
    answer:
      isApplicable === undefined
        ? null
        : {
            questionId: id,
            isApplicable,
            justification: 'Because.',
            obligation: null,
            implementationStatus: null,
            ownerId: null,
            source: 'person',
            state: 'confirmed',
            updatedAt: '2026-11-15T09:30:00.000Z',
            updatedBy: null,
          },
    gaps: isApplicable === undefined ? ['answer'] : [],
    missing: [],
    readiness: 'not_started',
    drivers: { controls: [], risks: [], evidence: { tasks: 0, fresh: 0 }, obligation: null, ownerId: null },
  }) as unknown as Row;

const rows = [row('q1', '5.1', true), row('q2', '5.2'), row('q3', '5.3')];

function Page({ save, open }: { save: (id: string, patch: Patch) => Promise<void>; open?: (id: string) => void }) {
  const [selected, setSelected] = useState(new Set<string>());
  const answers = { rows, save, undo: () => undefined, confirm: async () => 0, troubles: {}, forget: () => undefined };
  return (
    <Grid
      rows={rows}
      answers={answers as unknown as Answers}
      mayChange
      selected={selected}
      onSelect={setSelected}
      onOpen={open ?? (() => undefined)}
    />
  );
}

const cell = () => document.activeElement?.getAttribute('data-cell');

test('one cell is the tab stop, and arrows move it', async () => {
  const { user } = draw(<Page save={vi.fn()} />);
  const stops = document.querySelectorAll('[data-cell][tabindex="0"]');
  expect(stops.length).toBe(1);
  (stops[0] as HTMLElement).focus();
  await user.keyboard('{ArrowDown}');
  expect(cell()).toBe('q2 applies');
  await user.keyboard('{ArrowLeft}');
  expect(cell()).toBe('q2 control');
  await user.keyboard('{ArrowDown}{ArrowDown}{ArrowDown}');
  expect(cell()).toBe('q3 control');
});

test('a yes is said at once; a no asks for its reason first', async () => {
  const save = vi.fn(async () => undefined);
  const { user } = draw(<Page save={save} />);
  (document.querySelector('[data-cell="q1 applies"]') as HTMLElement).focus();
  await user.keyboard('{ArrowDown}y');
  expect(save).toHaveBeenCalledWith('q2', { isApplicable: true });
  await user.keyboard('{ArrowDown}n');
  const box = await screen.findByRole('textbox');
  expect(save).toHaveBeenCalledTimes(1);
  await user.type(box, 'No premises.');
  fireEvent.keyDown(box, { key: 'Enter' });
  expect(save).toHaveBeenLastCalledWith('q3', { isApplicable: false, justification: 'No premises.' });
});

test('the next gap is found from anywhere', async () => {
  const { user } = draw(<Page save={vi.fn()} />);
  await user.keyboard('g');
  expect(cell()).toBe('q2 applies');
  await user.keyboard('g');
  expect(cell()).toBe('q3 applies');
});
