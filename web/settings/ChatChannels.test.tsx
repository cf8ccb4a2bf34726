// @vitest-environment jsdom
import { screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { answer, draw } from '../parts/testing/render';
import { ChatChannels } from './ChatChannels';

const view = vi.hoisted(() => ({ current: {} as Record<string, string> }));
vi.mock('../parts/search', () => ({ useView: () => ({ view: view.current, change: vi.fn() }) }));
afterEach(() => vi.unstubAllGlobals());

const channel = {
  id: 'chn_1',
  name: 'Compliance',
  kind: 'slack',
  urlHint: 'hooks.slack.com/…wXyZ',
  notices: ['assigned', 'overdue'],
  isActive: true,
  lastDelivery: null as object | null,
  createdAt: '2026-11-15T09:30:00.000Z',
  updatedAt: '2026-11-15T09:30:00.000Z',
};
const MAY = ['organization:read', 'organization:update'];
const list = (...data: object[]) => ({ body: { data, count: data.length, nextCursor: null } });

test('a test message shows how it was delivered', async () => {
  view.current = {};
  let now = channel;
  answer({
    '/v1/chat-channels': () => list(now),
    '/v1/chat-channels/chn_1/test': () => {
      now = {
        ...channel,
        lastDelivery: { at: new Date().toISOString(), isDelivered: false, detail: 'answered 404: no_service' },
      };
      return { body: {} };
    },
  });
  const { user } = draw(<ChatChannels />, MAY);
  expect(await screen.findByText('None yet')).toBeTruthy();
  await user.click(screen.getByRole('button', { name: 'Send a test message to Compliance' }));
  expect(await screen.findByText('answered 404: no_service')).toBeTruthy();
});

test('a channel is changed without its address, which is asked for only to replace it', async () => {
  view.current = { open: 'chn_1' };
  const asked = answer({ '/v1/chat-channels': () => list(channel), '/v1/chat-channels/chn_1': () => ({ body: channel }) });
  const { user } = draw(<ChatChannels />, MAY);
  const address = await screen.findByRole<HTMLInputElement>('textbox', { name: /Webhook address/ });
  expect(address.value).toBe('');
  await user.click(screen.getByRole('checkbox', { name: 'Overdue' }));
  await user.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(asked.some(({ method }) => method === 'PATCH')).toBe(true));
  expect(JSON.parse(asked.find(({ method }) => method === 'PATCH')?.body ?? '')).toEqual({
    name: 'Compliance',
    kind: 'slack',
    notices: ['assigned'],
    isActive: true,
  });
});

test('a refused address is told at its field and stays, but is never part of a draft', async () => {
  view.current = { new: 'yes' };
  const body = {
    status: 400,
    code: 'validation_failed',
    detail: 'Invalid.',
    errors: [{ field: 'url', message: 'must be the address of an incoming webhook: https://…' }],
  };
  answer({ '/v1/chat-channels': ({ method }) => (method === 'POST' ? { status: 400, body } : list()) });
  const { user } = draw(<ChatChannels />, MAY);
  await user.type(await screen.findByRole('textbox', { name: 'Name' }), 'Ops');
  const address = screen.getByRole<HTMLInputElement>('textbox', { name: /Webhook address/ });
  await user.type(address, 'hooks/secret');
  await user.click(screen.getAllByRole('button', { name: 'Add channel' }).at(-1) as HTMLElement);
  expect(await screen.findByText(/Must be the address of an incoming webhook/)).toBeTruthy();
  expect(address.value).toBe('hooks/secret');
  expect(JSON.stringify({ ...localStorage })).toContain('Ops');
  expect(JSON.stringify({ ...localStorage })).not.toContain('secret');
});

test('readers see the channels and cannot change them', async () => {
  view.current = {};
  answer({ '/v1/chat-channels': () => list(channel) });
  draw(<ChatChannels />, ['organization:read']);
  expect(await screen.findByText('Compliance')).toBeTruthy();
  expect(screen.queryByRole('button')).toBeNull();
});
