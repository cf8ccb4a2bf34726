// @vitest-environment jsdom
import { screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { answer, draw } from '../parts/testing/render';
import { type InboxItem, mark, markUpTo, useInbox, useUnread } from './inbox';

afterEach(() => vi.unstubAllGlobals());

const item = (number: number, readAt: string | null = null): InboxItem => ({
  id: `inb_${number}`,
  kind: 'assigned',
  text: `T-${number}`,
  entityType: 'task',
  entityId: `tsk_${number}`,
  actorId: null,
  createdAt: '2026-11-15T09:30:00.000Z',
  readAt,
});

function Probe() {
  const { rows } = useInbox({});
  const { unread } = useUnread();
  return (
    <>
      <p>{unread} unread</p>
      {rows.map((row) => (
        <p key={row.id}>
          {row.text} {row.readAt ? 'read' : 'new'}
        </p>
      ))}
    </>
  );
}

const server = (refuses = false) => {
  let rows = [item(3), item(2), item(1, '2026-11-15T09:30:00.000Z')];
  const page = () => ({ data: rows, count: rows.length, nextCursor: null, unread: rows.filter((row) => !row.readAt).length });
  const asked = answer({
    '/v1/inbox': () => ({ body: page() }),
    '/v1/inbox/read': ({ body }) => {
      if (refuses) return { status: 422, body: { status: 422, code: 'unavailable', detail: 'Later.' } };
      const { ids, upTo, isRead = true } = JSON.parse(body) as { ids?: string[]; upTo?: string; isRead?: boolean };
      const isMarked = ({ id }: InboxItem) => ids?.includes(id) ?? id <= (upTo ?? '');
      rows = rows.map((row) => (isMarked(row) ? { ...row, readAt: isRead ? '2026-11-15T10:00:00.000Z' : null } : row));
      return { body: { unread: page().unread } };
    },
  });
  return asked.filter.bind(asked, ({ path }) => path === '/v1/inbox/read');
};

test('notifications are marked as read and as unread, and those that are so already are left alone', async () => {
  const marks = server();
  draw(<Probe />, ['profile:read']);
  expect(await screen.findByText('2 unread')).toBeTruthy();
  await mark([item(3), item(1, '2026-11-15T09:30:00.000Z')], true);
  expect(await screen.findByText('T-3 read')).toBeTruthy();
  expect(screen.getByText('1 unread')).toBeTruthy();
  expect(marks().map(({ body }) => JSON.parse(body))).toEqual([{ ids: ['inb_3'], isRead: true }]);
  await mark([item(1, '2026-11-15T09:30:00.000Z')], false);
  expect(await screen.findByText('T-1 new')).toBeTruthy();
});

test('all are marked up to the newest one that was seen', async () => {
  const marks = server();
  draw(<Probe />, ['profile:read']);
  await screen.findByText('2 unread');
  await markUpTo(item(3));
  expect(await screen.findByText('0 unread')).toBeTruthy();
  expect(marks().map(({ body }) => JSON.parse(body))).toEqual([{ upTo: 'inb_3' }]);
});

test('a refused mark is taken back', async () => {
  server(true);
  draw(<Probe />, ['profile:read']);
  await screen.findByText('2 unread');
  await expect(mark([item(3)], true)).rejects.toThrow('Later.');
  await waitFor(() => expect(screen.getByText('T-3 new')).toBeTruthy());
  expect(screen.getByText('2 unread')).toBeTruthy();
});
