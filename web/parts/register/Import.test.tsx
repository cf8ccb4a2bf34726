// @vitest-environment jsdom
import { screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { answer, draw } from '../testing/render';
import type { Imported } from './definition';
import { Import } from './Import';

afterEach(() => vi.unstubAllGlobals());

const d: Imported = {
  path: '/v1/risks',
  nameField: 'title',
  labels: { title: 'Title', category: 'Category', assigneeId: 'Owner' },
  fields: [
    { name: 'title', kind: 'text' },
    { name: 'category', kind: 'choice', choices: { people: 'People', technology: 'Technology' } },
    { name: 'assigneeId', kind: 'person' },
  ],
  texts: { new: 'New risk', one: 'risk', many: 'risks' },
};

const people = { '/v1/people': () => ({ body: { data: [], count: 0, nextCursor: null } }) };
const box = () => {
  const input = document.querySelector<HTMLInputElement>('input[type=file]');
  if (!input) throw new Error('no input for files');
  return input;
};

test('columns are guessed, rows are fixed or left out, and only then imported', async () => {
  const wrong = { row: 2, field: 'category', message: 'must be one of: people, technology' };
  let checks = 0;
  const asked = answer({
    ...people,
    '/v1/risks/import': ({ path }) => {
      if (path.endsWith('dryRun=false'))
        return { body: { dryRun: false, total: 2, imported: 2, ids: [], errors: [], errorCount: 0 } };
      checks += 1;
      const errors = checks === 1 ? [wrong] : [];
      return { body: { dryRun: true, total: 3, imported: 0, ids: [], errors, errorCount: errors.length } };
    },
  });
  const close = vi.fn();
  const { user } = draw(<Import d={d} onClose={close} />);
  const table = 'Risk name;Type\nFire;People\nFlood;weather\nTheft;Technology\n';
  await user.upload(box(), new File([table], 'risks.csv', { type: 'text/csv' }));
  expect((await screen.findByRole<HTMLInputElement>('combobox', { name: 'Risk name: Becomes' })).value).toBe('Title');
  await user.click(screen.getByRole('button', { name: 'Check the rows' }));
  // Numbered as in the file, where the head is the first line.
  const cell = await screen.findByRole<HTMLInputElement>('combobox', { name: 'Row 3: Category' });
  expect(cell.placeholder).toBe('weather');
  expect(screen.getByText('Must be one of: People, Technology')).toBeTruthy();
  await user.click(cell);
  await user.click(await screen.findByRole('option', { name: 'People' }));
  await user.click(screen.getByRole('button', { name: 'Check the rows' }));
  await user.click(await screen.findByRole('button', { name: /^Import/ }));
  await waitFor(() => expect(close).toHaveBeenCalled());
  const sent = asked.filter(({ path }) => path.startsWith('/v1/risks/import')).at(-1)?.body ?? '';
  expect(sent).toContain('Flood,people');
});

test('a workbook shows its sheets, and becomes a table like any other', async () => {
  const asked = answer({
    ...people,
    '/v1/risks/import/preview': ({ path }) => ({
      body: {
        sheets: ['Read me', 'Our risks'],
        columns: path.includes('Our') ? ['Risk name', 'Type'] : ['Notes'],
        rows: path.includes('Our') ? [{ row: 4, cells: ['Fire', 'People'] }] : [],
      },
    }),
    '/v1/risks/import': () => ({ body: { dryRun: true, total: 1, imported: 0, ids: [], errors: [], errorCount: 0 } }),
  });
  const { user } = draw(<Import d={d} onClose={() => undefined} />);
  await user.upload(box(), new File(['PK'], 'risks.xlsx'));
  await user.click(await screen.findByRole('combobox', { name: 'Sheet' }));
  await user.click(await screen.findByRole('option', { name: 'Our risks' }));
  await screen.findByRole('combobox', { name: 'Risk name: Becomes' });
  await user.click(screen.getByRole('button', { name: 'Check the rows' }));
  await screen.findByRole('button', { name: /^Import 1/ });
  expect(asked.at(-1)?.body).toContain('Fire,people');
});

test('a file that cannot be read says why', async () => {
  const problem = { status: 400, code: 'malformed_body', detail: 'The Excel workbook is damaged.', errors: [] };
  answer({ ...people, '/v1/risks/import/preview': () => ({ status: 400, body: problem }) });
  const { user } = draw(<Import d={d} onClose={() => undefined} />);
  await user.upload(box(), new File(['?'], 'risks.xlsx'));
  expect((await screen.findByRole('alert')).textContent).toContain('damaged');
});

test('Escape asks before a file and its corrections are dropped', async () => {
  answer(people);
  const close = vi.fn();
  const { user } = draw(<Import d={d} onClose={close} />);
  await user.upload(box(), new File(['Risk name\nFire\n'], 'risks.csv', { type: 'text/csv' }));
  await screen.findByRole('combobox', { name: 'Risk name: Becomes' });
  await user.keyboard('{Escape}');
  await screen.findByRole('dialog', { name: 'Discard this import?' });
  await user.keyboard('{Escape}');
  await waitFor(() => expect(screen.queryByRole('dialog', { name: 'Discard this import?' })).toBeNull());
  expect(screen.getByRole('combobox', { name: 'Risk name: Becomes' })).toBeTruthy();
  expect(close).not.toHaveBeenCalled();
  await user.keyboard('{Escape}');
  await user.click(await screen.findByRole('button', { name: 'Discard import' }));
  await waitFor(() => expect(close).toHaveBeenCalled());
});

test('every row is shown, and errors stay at their rows when others are left out', async () => {
  const errors = [
    { row: 2, field: 'category', message: 'must be one of: people, technology' },
    { row: 3, field: 'title', message: 'is required' },
  ];
  answer({
    ...people,
    '/v1/risks/import': () => ({ body: { dryRun: true, total: 3, imported: 0, ids: [], errors, errorCount: 2 } }),
  });
  const { user } = draw(<Import d={d} onClose={() => undefined} />);
  const table = 'Risk name;Type;Remarks\nFire;People;none\nFlood;weather;none\n;People;none\n';
  await user.upload(box(), new File([table], 'risks.csv', { type: 'text/csv' }));
  const preview = await screen.findByRole('region', { name: 'Rows of your file' });
  expect([...preview.querySelectorAll('thead th')].map((one) => one.textContent)).toEqual([
    'Row',
    'Title',
    'Category',
    'Leave out',
  ]);
  expect([...preview.querySelectorAll('tbody th')].map((one) => one.textContent)).toEqual(['2', '3', '4']);
  expect(preview.textContent).toContain('Flood');
  await user.click(screen.getByRole('button', { name: 'Check the rows' }));
  await screen.findByRole('combobox', { name: 'Row 3: Category' });
  await user.click(screen.getByRole('checkbox', { name: 'Leave out row 2' }));
  expect(screen.getByRole('textbox', { name: 'Row 4: Title' })).toBeTruthy();
  await user.click(screen.getByRole('checkbox', { name: 'Only rows with errors (2)' }));
  expect([...preview.querySelectorAll('tbody th')].map((one) => one.textContent)).toEqual(['3', '4']);
});

test('of a long table only the rows in view are in the page', async () => {
  answer(people);
  const { user } = draw(<Import d={d} onClose={() => undefined} />);
  const table = `Risk name\n${Array.from({ length: 5000 }, (_, at) => `Risk ${at}`).join('\n')}\n`;
  await user.upload(box(), new File([table], 'risks.csv', { type: 'text/csv' }));
  const preview = await screen.findByRole('region', { name: 'Rows of your file' });
  expect(preview.querySelector('table')?.getAttribute('aria-rowcount')).toBe('5000');
  expect(preview.querySelectorAll('tbody th').length).toBeLessThan(100);
});

test('a cell that was changed loses its error and stays open until the next check', async () => {
  const errors = [
    { row: 1, field: 'title', message: 'is required' },
    { row: 2, field: 'title', message: 'is required' },
  ];
  answer({
    ...people,
    '/v1/risks/import': () => ({ body: { dryRun: true, total: 2, imported: 0, ids: [], errors, errorCount: 20_000 } }),
  });
  const { user } = draw(<Import d={d} onClose={() => undefined} />);
  await user.upload(box(), new File(['Risk name;Type\n;People\n;People\n'], 'risks.csv', { type: 'text/csv' }));
  await user.click(await screen.findByRole('button', { name: 'Check the rows' }));
  await waitFor(() => expect(screen.getAllByText('Is required')).toHaveLength(2));
  expect(screen.getByRole('status').textContent).toContain('Only the first 2 are shown.');
  await user.type(screen.getByRole('textbox', { name: 'Row 2: Title' }), 'Fire');
  expect(screen.getByRole<HTMLInputElement>('textbox', { name: 'Row 2: Title' }).value).toBe('Fire');
  expect(screen.getAllByText('Is required')).toHaveLength(1);
});
