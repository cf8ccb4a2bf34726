// @vitest-environment jsdom
import { createMemoryHistory, createRootRoute, createRouter, RouterContextProvider } from '@tanstack/react-router';
import { screen, waitFor } from '@testing-library/react';
import type { ReactNode } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { answer, draw } from '../testing/render';
import type { Control, Linked } from './kinds';
import { LinkedControls, LinkList } from './Links';

afterEach(() => vi.unstubAllGlobals());

const router = createRouter({ routeTree: createRootRoute(), history: createMemoryHistory() });
const routed = (what: ReactNode) => <RouterContextProvider router={router as never}>{what}</RouterContextProvider>;

const ready = { status: 'ready', policies: { linked: 1, inPlace: 1 }, tasks: { linked: 0, inPlace: 0 }, missing: [] };
const control = (id: string, reference: string, name: string) =>
  ({ id, reference, name, readiness: ready, riskIds: ['rsk_1'] }) as unknown as Control;
const risk: Linked = { id: 'rsk_1', reference: 'R-1', name: 'Laptop stolen' };
const ALL = ['control:read', 'control:update', 'risk:read'];
const [backups, disks] = [control('ctl_1', 'C-1', 'Backups are restored'), control('ctl_2', 'C-2', 'Disks are encrypted')];

/** A server on which the risk has these controls. */
function served(linked: Control[], status?: number) {
  let now = linked;
  const post = (verb: 'link' | 'unlink') => () => {
    if (status) return { status, body: { status, code: 'too_many_links', detail: 'A control has at most 200 risks.' } };
    now = verb === 'link' ? [...now, disks] : [];
    return { body: disks };
  };
  return answer({
    '/v1/controls': ({ path }) => ({
      body: { data: path.includes('riskId') ? now : [backups, disks], nextCursor: null },
    }),
    '/v1/controls/ctl_1/unlink': post('unlink'),
    '/v1/controls/ctl_2/link': post('link'),
  });
}

test('a record lists its controls, and each opens the other record', async () => {
  served([backups]);
  draw(routed(<LinkedControls kind="risk" record={risk} />), ['control:read']);
  const link = await screen.findByRole('link', { name: 'Backups are restored' });
  expect(link.getAttribute('href')).toBe('/controls?open=ctl_1');
  expect(screen.getByText('Ready')).toBeTruthy();
  expect(screen.queryByRole('button')).toBeNull();
  expect(screen.queryByRole('combobox')).toBeNull();
});

test('somebody who may not see controls is shown nothing', () => {
  draw(routed(<LinkedControls kind="risk" record={risk} />), ['risk:read']);
  expect(screen.queryByRole('heading')).toBeNull();
});

test('the past is only read', async () => {
  const asked = served([backups]);
  draw(routed(<LinkedControls kind="risk" record={risk} asOf="2026-01-31" />), ALL);
  await screen.findByRole('link', { name: 'Backups are restored' });
  expect(screen.queryByRole('button')).toBeNull();
  expect(asked[0]?.path).toContain('asOf=2026-01-31');
});

test('a control is found by a few letters and linked', async () => {
  const asked = served([backups]);
  const { user } = draw(routed(<LinkedControls kind="risk" record={risk} />), ALL);
  await user.type(await screen.findByRole('combobox', { name: 'Add a control' }), 'disk');
  await user.click(await screen.findByRole('option', { name: 'C-2 Disks are encrypted' }));
  expect(await screen.findByRole('link', { name: 'Disks are encrypted' })).toBeTruthy();
  const sent = asked.find(({ method }) => method === 'POST');
  expect(sent).toMatchObject({ path: '/v1/controls/ctl_2/link', body: '{"riskIds":["rsk_1"]}' });
});

test('a removed link leaves the list, and the focus stays in it', async () => {
  const asked = served([backups]);
  const { user } = draw(routed(<LinkedControls kind="risk" record={risk} />), ALL);
  await user.click(await screen.findByRole('button', { name: 'Unlink C-1 Backups are restored' }));
  await waitFor(() => expect(screen.getByText('No controls linked yet.')).toBeTruthy());
  expect(document.activeElement).toBe(screen.getByRole('heading', { name: 'Controls' }));
  expect(asked.find(({ method }) => method === 'POST')?.path).toBe('/v1/controls/ctl_1/unlink');
});

test('a refused link is taken off again', async () => {
  served([backups], 422);
  const { user } = draw(routed(<LinkedControls kind="risk" record={risk} />), ALL);
  await user.click(await screen.findByRole('combobox', { name: 'Add a control' }));
  await user.click(await screen.findByRole('option', { name: 'C-2 Disks are encrypted' }));
  await waitFor(() => expect(screen.queryByRole('link', { name: 'Disks are encrypted' })).toBeNull());
  expect(screen.getByRole('link', { name: 'Backups are restored' })).toBeTruthy();
});

test('what cannot be seen is listed without a link and cannot be added', () => {
  draw(routed(<LinkList of="vendor" all={[{ id: 'vnd_1', reference: '', name: 'vnd_1' }]} onChange={vi.fn()} />), ALL);
  expect(screen.getByText('vnd_1')).toBeTruthy();
  expect(screen.queryByRole('link')).toBeNull();
  expect(screen.queryByRole('combobox')).toBeNull();
});
