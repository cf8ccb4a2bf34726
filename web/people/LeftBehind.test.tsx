// @vitest-environment jsdom
import { screen, waitFor, within } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import type { Member as Row } from '../api/people';
import { answer, draw } from '../parts/testing/render';
import { toast } from '../parts/toast';
import { isMovable, LeftBehind } from './LeftBehind';
import { Member } from './Member';

vi.mock('@tanstack/react-router', () => ({
  Link: ({ to, search, children }: { to: string; search: Record<string, string>; children: string }) => (
    <a href={`${to}?${new URLSearchParams(search)}`}>{children}</a>
  ),
}));
vi.mock('../parts/toast', () => ({ toast: vi.fn() }));
afterEach(() => vi.unstubAllGlobals());

const person = (id: string, name: string, isActive = true) => ({
  id,
  role: 'employee',
  department: 'none',
  isActive,
  isInvited: false,
  isExempt: false,
  hasSecondFactor: false,
  createdAt: '2026-11-15T09:30:00.000Z',
  user: { id: `usr_${id}`, name, email: `${name.toLowerCase()}@acme.example`, lastLogin: null },
});
const eve = person('mem_2', 'Eve', false);
const released = (entityType: string, entityId: string, title: string, assigneeId: string | null = null) => ({
  entityType,
  entityId,
  reference: entityId,
  title,
  assigneeId,
  handedTo: null as string | null,
  releasedAt: '2026-11-15T09:30:00.000Z',
});
const list = (...data: object[]) => ({ body: { data, count: data.length, nextCursor: null } });
const RECORDS = [
  released('risk', 'R-1', 'Phishing'),
  released('task', 'T-1', 'Test backups', 'mem_1'),
  released('task', 'T-2', 'Rotate keys'),
  released('context_entry', 'C-1', 'Where do you work?'),
];
const paths = {
  '/v1/people': () => list(person('mem_1', 'Ada'), eve, person('mem_3', 'Bob')),
  '/v1/people/mem_2': () => ({ body: eve }),
  '/v1/people/mem_2/released': () => list(...RECORDS),
};
const READER = ['member:read'];
const ADMIN = [...READER, 'member:update', 'risk:update', 'task:update', 'context:update'];

test('what nobody has, and what was handed over before, can be handed over', () => {
  expect(isMovable({ assigneeId: null, handedTo: null })).toBe(true);
  expect(isMovable({ assigneeId: 'mem_1', handedTo: 'mem_1' })).toBe(true);
  expect(isMovable({ assigneeId: 'mem_1', handedTo: null })).toBe(false);
  expect(isMovable({ assigneeId: 'mem_1', handedTo: 'mem_3' })).toBe(false);
});

test('a person who left shows their records with links and present owners', async () => {
  answer(paths);
  draw(<Member id="mem_2" onClose={vi.fn()} onStep={vi.fn()} />, READER);
  const section = (await screen.findByRole('heading', { name: 'What they left behind' })).closest('section') as HTMLElement;
  expect(within(section).getByRole('link', { name: 'Phishing' }).getAttribute('href')).toBe('/risks?open=R-1');
  const rows = within(section).getAllByRole('listitem');
  await waitFor(() => expect(rows[1]?.textContent).toContain('Ada'));
  expect(rows[0]?.textContent).toContain('No owner');
  expect(within(section).queryByRole('button', { name: 'Hand over' })).toBeNull();
});

test('records are handed over to a person, some kinds or all', async () => {
  const asked = answer({ ...paths, '/v1/people/mem_2/handover': () => ({ body: { moved: 2 } }) });
  const { user } = draw(<LeftBehind member={eve as unknown as Row} />, ADMIN);
  await user.click(await screen.findByRole('button', { name: 'Hand over' }));
  const dialog = await screen.findByRole('dialog', { name: 'Hand over what Eve left behind?' });
  const verb = within(dialog).getByRole<HTMLButtonElement>('button', { name: 'Hand over' });
  expect(verb.disabled).toBe(true);
  expect(within(dialog).getAllByRole('checkbox')).toHaveLength(3);
  await user.click(within(dialog).getByRole('checkbox', { name: '1 fact' }));
  await user.click(within(dialog).getByRole('combobox', { name: 'Hand over to' }));
  const names = (await screen.findAllByRole('option')).map(({ textContent }) => textContent);
  expect(names).toEqual(['Ada', 'Bob']);
  await user.click(screen.getByRole('option', { name: 'Bob' }));
  await user.click(verb);
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  const sent = asked.find(({ method }) => method === 'POST');
  expect(JSON.parse(sent?.body ?? '')).toEqual({ toMemberId: 'mem_3', entityTypes: ['risk', 'task'] });
  expect(toast).toHaveBeenLastCalledWith('2 records handed over to Bob');
});

test('only kinds that the reader may change are offered', async () => {
  answer(paths);
  const { user } = draw(<LeftBehind member={eve as unknown as Row} />, [...READER, 'member:update', 'risk:update']);
  await user.click(await screen.findByRole('button', { name: 'Hand over' }));
  const dialog = await screen.findByRole('dialog');
  expect(within(dialog).getByText('1 record has no owner or was handed over here before.')).toBeTruthy();
  expect(within(dialog).queryByRole('checkbox')).toBeNull();
});

test('a refused hand-over says why at the person', async () => {
  const errors = [{ field: 'toMemberId', message: 'must be an active member of this organization' }];
  answer({
    ...paths,
    '/v1/people/mem_2/handover': () => ({
      status: 400,
      body: { status: 400, code: 'validation_failed', detail: 'Invalid.', errors },
    }),
  });
  const { user } = draw(<LeftBehind member={eve as unknown as Row} />, ADMIN);
  await user.click(await screen.findByRole('button', { name: 'Hand over' }));
  const dialog = await screen.findByRole('dialog');
  await user.click(within(dialog).getByRole('combobox', { name: 'Hand over to' }));
  await user.click(await screen.findByRole('option', { name: 'Ada' }));
  await user.click(within(dialog).getByRole('button', { name: 'Hand over' }));
  expect(await within(dialog).findByText('Must be an active member of this organization')).toBeTruthy();
});

test('a person whom the directory keeps out is not reactivated, and the reader learns why', async () => {
  answer({
    ...paths,
    '/v1/people/mem_2': ({ method }) =>
      method === 'PATCH'
        ? { status: 409, body: { status: 409, code: 'managed_by_directory', detail: 'The directory manages this person.' } }
        : { body: eve },
  });
  const { user } = draw(<Member id="mem_2" onClose={vi.fn()} onStep={vi.fn()} />, ADMIN);
  await user.click(await screen.findByRole('button', { name: 'Reactivate' }));
  const words = 'The directory keeps this person out. Activate them at your identity provider.';
  await waitFor(() => expect(toast).toHaveBeenLastCalledWith(words, { bad: true }));
  expect(await screen.findByRole('button', { name: 'Reactivate' })).toBeTruthy();
});
