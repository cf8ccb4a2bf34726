// @vitest-environment jsdom
import { screen, within } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { answer, draw } from '../parts/testing/render';
import { Deactivation } from './Deactivation';

vi.mock('@tanstack/react-router', () => ({
  Link: ({ to, search, children }: { to: string; search: Record<string, string>; children: string }) => (
    <a href={`${to}?${new URLSearchParams(search)}`}>{children}</a>
  ),
}));
afterEach(() => vi.unstubAllGlobals());

const ACCOUNTS = '/v1/organization/service-accounts';
const account = (id: string, name: string, ownerId: string, isOrphaned = false) => ({ id, name, ownerId, isOrphaned });
const accounts = () => {
  const data = [
    account('sva_1', 'Old import', 'mem_2', true),
    account('sva_2', 'Import', 'mem_2'),
    account('sva_3', 'CI', 'mem_3'),
  ];
  return { body: { data, count: data.length, nextCursor: null } };
};
const leave = (permissions: string[]) =>
  draw(<Deactivation ids={['mem_2']} title="Deactivate Eve?" act={async () => undefined} onClose={vi.fn()} />, permissions);

test('service accounts that lose their owner are named before a person is deactivated', async () => {
  answer({ [ACCOUNTS]: accounts });
  leave(['api-key:read']);
  const dialog = await screen.findByRole('dialog', { name: 'Deactivate Eve?' });
  expect(await within(dialog).findByText('This service account will have no owner. It keeps working:')).toBeTruthy();
  const links = within(dialog).getAllByRole('link');
  expect(links.map((link) => [link.textContent, link.getAttribute('href')])).toEqual([
    ['Import', '/settings/service-accounts?open=sva_2'],
  ]);
});

test('service accounts are not asked for without the permission', async () => {
  const asked = answer({ [ACCOUNTS]: accounts });
  leave([]);
  const dialog = await screen.findByRole('dialog', { name: 'Deactivate Eve?' });
  expect(within(dialog).getByRole<HTMLButtonElement>('button', { name: 'Deactivate' }).disabled).toBe(false);
  expect(asked).toEqual([]);
});
