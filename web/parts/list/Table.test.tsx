// @vitest-environment jsdom
import { screen, within } from '@testing-library/react';
import { useState } from 'react';
import { expect, test, vi } from 'vitest';
import { draw } from '../testing/render';
import { type Column, type Sort, Table } from './Table';

type Row = { id: string; title: string; owner: string };
const rows: Row[] = ['Fire', 'Flood', 'Theft', 'Fraud', 'Failure'].map((title, at) => ({
  id: `r${at}`,
  title,
  owner: at < 3 ? 'Ada' : 'Grace',
}));
const columns: Column<Row>[] = [
  { key: 'title', header: 'Title', opens: true, sort: 'title', render: (row) => row.title },
  { key: 'owner', header: 'Owner', width: 120, render: (row) => row.owner },
];

type Props = { onOpen?: (row: Row) => void; onSort?: (next: Sort) => void; isGrouped?: boolean };

function List({ onOpen = () => undefined, onSort, isGrouped }: Props) {
  const [selected, setSelected] = useState(new Set<string>());
  return (
    <>
      <Table
        caption="Risks"
        rows={rows}
        columns={columns}
        rowKey={({ id }) => id}
        rowName={({ title }) => title}
        href={({ id }) => `/risks?open=${id}`}
        onOpen={onOpen}
        sort={{ key: 'title', dir: 'asc' }}
        onSort={onSort}
        selected={selected}
        onSelect={setSelected}
        phone={({ title }) => ({ title, facts: null })}
        {...(isGrouped && { group: ({ owner }: Row) => ({ key: owner, label: owner }) })}
      />
      <output>{[...selected].sort().join(' ')}</output>
    </>
  );
}

const selection = () => screen.getByRole('status').textContent;

test('a row is a link that opens its record', async () => {
  const open = vi.fn();
  const { user } = draw(<List onOpen={open} />);
  const link = screen.getByRole('link', { name: /Flood/ });
  expect(link.getAttribute('href')).toBe('/risks?open=r1');
  await user.click(link);
  expect(open).toHaveBeenCalledWith(rows[1]);
});

test('Shift selects a range, and the head clears or selects all', async () => {
  const { user } = draw(<List />);
  await user.click(screen.getByRole('checkbox', { name: /Flood/ }));
  await user.keyboard('{Shift>}');
  await user.click(screen.getByRole('checkbox', { name: /Fraud/ }));
  await user.keyboard('{/Shift}');
  expect(selection()).toBe('r1 r2 r3');
  const [head] = screen.getAllByRole('checkbox');
  if (!head) throw new Error('no box in the head');
  await user.click(head);
  expect(selection()).toBe('');
  await user.click(head);
  expect(selection()).toBe('r0 r1 r2 r3 r4');
});

test('keys move, select and open as soon as the list is shown', async () => {
  const open = vi.fn();
  const { user } = draw(<List onOpen={open} />);
  await user.keyboard('jjx');
  expect(selection()).toBe('r1');
  await user.keyboard('k{Enter}');
  expect(open).toHaveBeenCalledWith(rows[0]);
});

test('a column is sorted by its head, the other way the second time', async () => {
  const sort = vi.fn();
  const { user } = draw(<List onSort={sort} />);
  await user.click(within(screen.getByRole('columnheader', { name: /Title/ })).getByRole('button'));
  expect(sort).toHaveBeenCalledWith({ key: 'title', dir: 'desc' });
  expect(screen.getByRole('columnheader', { name: /Title/ }).getAttribute('aria-sort')).toBe('ascending');
});

test('groups are headed by what their rows have in common', () => {
  draw(<List isGrouped />);
  expect(screen.getAllByText(/^Ada$|^Grace$/).length).toBeGreaterThanOrEqual(2 + rows.length);
});
