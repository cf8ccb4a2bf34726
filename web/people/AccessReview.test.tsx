// @vitest-environment jsdom
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { screen, waitFor, within } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { download } from '../api/download';
import { answer, draw } from '../parts/testing/render';
import { AccessReview } from './AccessReview';
import { type Access, isDormant, PATH, shownOf } from './access';

vi.mock('../api/download', () => ({ download: vi.fn(async () => undefined) }));
vi.mock('./Member', () => ({ Member: ({ id }: { id: string }) => <aside>{id}</aside> }));
afterEach(() => vi.unstubAllGlobals());

const NOW = new Date().toISOString();
const row = (name: string, more: Partial<Access> = {}): Access => ({
  id: `mem_${name}`,
  memberId: `mem_${name}`,
  name,
  email: `${name.toLowerCase()}@acme.example`,
  role: 'employee',
  methods: ['password'],
  hasSecondFactor: true,
  isExempt: false,
  isManaged: false,
  apiKeys: 0,
  lastLogin: NOW,
  ...more,
});
const ROWS = [
  row('Ada', { role: 'owner', methods: ['password', 'passkey'], isExempt: true, apiKeys: 2 }),
  row('Bob'),
  row('Eve', { methods: [], hasSecondFactor: false, isManaged: true, lastLogin: null }),
];
/** Two pages, as the API returns them. */
const pages = {
  [PATH]: ({ path }: { path: string }) => {
    const isSecond = path.includes('cursor=next');
    const data = (isSecond ? ROWS.slice(2) : ROWS.slice(0, 2)).map(({ id: _, ...one }) => one);
    return { body: { data, count: data.length, nextCursor: isSecond ? null : 'next' } };
  },
};

function open(permissions: string[]) {
  vi.stubGlobal('scrollTo', () => undefined);
  const routeTree = createRootRoute({ component: AccessReview, notFoundComponent: () => null });
  const router = createRouter({ routeTree, history: createMemoryHistory({ initialEntries: ['/'] }) });
  return { router, ...draw(<RouterProvider router={router as never} />, permissions) };
}

const names = (rows: Access[]) => rows.map(({ name }) => name);

test('people with the most findings come first, then by name', () => {
  expect(names(shownOf(ROWS, {}))).toEqual(['Eve', 'Ada', 'Bob']);
  expect(names(shownOf(ROWS, { sort: 'name', order: 'desc' }))).toEqual(['Eve', 'Bob', 'Ada']);
  expect(names(shownOf(ROWS, { sort: 'apiKeys', order: 'desc' }))).toEqual(['Ada', 'Bob', 'Eve']);
});

test('filters take several values, and all of them apply', () => {
  expect(names(shownOf(ROWS, { role: 'owner,admin' }))).toEqual(['Ada']);
  expect(names(shownOf(ROWS, { method: 'passkey' }))).toEqual(['Ada']);
  expect(names(shownOf(ROWS, { mark: 'exempt,managed' }))).toEqual(['Eve', 'Ada']);
  expect(names(shownOf(ROWS, { apiKeys: 'false', hasSecondFactor: 'true' }))).toEqual(['Bob']);
  expect(names(shownOf(ROWS, { q: 'BOB@' }))).toEqual(['Bob']);
});

test('an account is dormant after 90 days without a sign-in, or without any', () => {
  const now = Date.parse('2026-11-15T09:30:00.000Z');
  expect(isDormant(row('Ada', { lastLogin: '2026-08-17T09:30:00.000Z' }), now)).toBe(false);
  expect(isDormant(row('Ada', { lastLogin: '2026-08-17T09:29:00.000Z' }), now)).toBe(true);
  expect(isDormant(row('Ada', { lastLogin: null }), now)).toBe(true);
});

test('everyone is listed with the ways in, and a finding shows whom it is about', async () => {
  answer(pages);
  const { user, router } = open(['identity:read']);
  expect(await screen.findByText('3 people can get in')).toBeTruthy();
  const table = screen.getByRole('table', { name: 'Access review' });
  const rows = () => within(table).getAllByRole('row').slice(1);
  expect(rows().map((one) => one.getAttribute('data-row'))).toEqual(['mem_Eve', 'mem_Ada', 'mem_Bob']);
  expect(rows()[0]?.textContent).toMatch(/Directory.*eve@acme\.example.*Employee.*None yet.*Missing.*Never/);
  expect(rows()[1]?.textContent).toMatch(/Exempt.*ada@acme\.example.*Owner.*Password · Passkey.*Set up.*2/);
  expect(screen.getByRole('button', { name: '1 not signed in for 90 days' })).toBeTruthy();

  await user.click(screen.getByRole('button', { name: '1 without a second factor' }));
  await waitFor(() => expect(rows()).toHaveLength(1));
  expect(router.state.location.search).toEqual({ hasSecondFactor: 'false' });
  await user.click(screen.getByRole('button', { name: '1 with API keys' }));
  await waitFor(() => expect(router.state.location.search).toEqual({ apiKeys: 'true' }));
  await waitFor(() => expect(rows()[0]?.getAttribute('data-row')).toBe('mem_Ada'));

  await user.click(within(table).getByRole('link', { name: /Ada/ }));
  expect(await screen.findByText('mem_Ada')).toBeTruthy();
  await user.click(screen.getByRole('button', { name: 'Export' }));
  await user.click(await screen.findByRole('menuitem', { name: 'CSV' }));
  await waitFor(() => expect(download).toHaveBeenCalledWith(`${PATH}/export?format=csv`));
});

test('a failure is shown in the page and can be tried again', async () => {
  let isBroken = true;
  answer({
    [PATH]: (asked) =>
      isBroken ? { status: 500, body: { status: 500, code: 'internal', detail: 'Broken.' } } : pages[PATH](asked),
  });
  const { user } = open(['identity:read']);
  const again = await screen.findByRole('button', { name: 'Try again' });
  isBroken = false;
  await user.click(again);
  expect(await screen.findByText('3 people can get in')).toBeTruthy();
});

test('without the permission there is no such page', async () => {
  const asked = answer(pages);
  open(['member:read']);
  expect(await screen.findByRole('heading', { name: 'Not found' })).toBeTruthy();
  expect(asked).toEqual([]);
});
