// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { day } from '../parts/format';
import { answer, draw } from '../parts/testing/render';
import { Acceptance, monthsLater } from './Acceptance';

afterEach(() => vi.unstubAllGlobals());

const risk = {
  id: 'rsk_1',
  reference: 'R-1',
  title: 'Fire',
  assigneeId: 'mem_1',
  isResidualAssessed: true,
  residualScore: 12,
  acceptanceStatus: 'none',
  acceptedById: null,
  acceptedAt: null,
  acceptedUntil: null,
  acceptanceReason: null,
};
const people = [
  { id: 'mem_1', isActive: true, user: { name: 'Ada Byron', email: 'ada@example.com' } },
  { id: 'mem_2', isActive: true, user: { name: 'Eve Holt', email: 'eve@example.com' } },
];
const MAY = ['risk:read', 'member:read'];

function server(row: object, accept: () => { status?: number; body: unknown } = () => ({ body: {} })) {
  return answer({
    '/v1/risks/rsk_1': () => ({ body: { ...risk, ...row } }),
    '/v1/risks/rsk_1/acceptance': accept,
    '/v1/people': () => ({ body: { data: people, count: 2, nextCursor: null } }),
    '/v1/risk-criteria': () => ({
      body: { likelihood: [], impact: [], appetite: 9, acceptanceMonths: 6, updatedAt: null },
    }),
    '/v1/auth/confirm': () => ({ body: { methods: ['password'], needsCode: false, connections: [] } }),
  });
}

test('the owner accepts until a day, with a reason and the password; a refusal stands at its field', async () => {
  const refusal = {
    status: 400,
    code: 'validation_failed',
    detail: 'Invalid.',
    errors: [{ field: 'until', message: 'must be after today' }],
  };
  let refusals = 1;
  const asked = server({}, () => (refusals-- > 0 ? { status: 400, body: refusal } : { body: {} }));
  const { user } = draw(<Acceptance id="rsk_1" isPast={false} />, MAY);
  await user.click(await screen.findByRole('button', { name: 'Accept risk' }));
  fireEvent.change(await screen.findByLabelText('Accept until'), { target: { value: '2030-06-30' } });
  await user.type(screen.getByLabelText('Reason'), 'Replaced in June.');
  await user.type(screen.getByLabelText('Your password'), 'secret');
  const accept = screen.getAllByRole('button', { name: 'Accept risk' }).at(-1) as HTMLElement;
  await user.click(accept);
  expect(await screen.findByText('Must be after today')).toBeTruthy();
  expect(screen.getByLabelText<HTMLTextAreaElement>('Reason').value).toBe('Replaced in June.');
  await user.click(accept);
  await waitFor(() => expect(screen.queryByLabelText('Reason')).toBeNull());
  const sent = asked.filter(({ path, method }) => path.endsWith('/acceptance') && method === 'POST');
  expect(JSON.parse(sent.at(-1)?.body ?? '')).toEqual({ until: '2030-06-30', reason: 'Replaced in June.' });
  expect(asked.findIndex(({ path }) => path === '/v1/auth/confirm')).toBeLessThan(
    asked.findIndex(({ path }) => path.endsWith('/acceptance')),
  );
});

test('an acceptance names its end, its owner and its reason, and can be withdrawn', async () => {
  const asked = server({
    acceptanceStatus: 'accepted',
    acceptedById: 'mem_1',
    acceptedAt: '2026-11-15T09:30:00.000Z',
    acceptedUntil: '2027-06-30',
    acceptanceReason: 'Replaced in June.',
  });
  const { user } = draw(<Acceptance id="rsk_1" isPast={false} />, MAY);
  expect(await screen.findByText(`Accepted until ${day('2027-06-30')}`)).toBeTruthy();
  expect(await screen.findByText(/by Ada Byron/)).toBeTruthy();
  expect(screen.getByText('Replaced in June.')).toBeTruthy();
  expect(screen.getByText(/ends the acceptance/)).toBeTruthy();
  await user.click(screen.getByRole('button', { name: 'Withdraw acceptance' }));
  await user.click((await screen.findAllByRole('button', { name: 'Withdraw acceptance' })).at(-1) as HTMLElement);
  await waitFor(() => expect(asked.some(({ method }) => method === 'DELETE')).toBe(true));
});

test('others read why they cannot accept', async () => {
  server({ assigneeId: 'mem_2' });
  draw(<Acceptance id="rsk_1" isPast={false} />, MAY);
  expect(await screen.findByText('Only the owner can accept it: Eve Holt.')).toBeTruthy();
  expect(screen.queryByRole('button')).toBeNull();
});

test('what is not rated after treatment cannot be accepted', async () => {
  server({ isResidualAssessed: false });
  draw(<Acceptance id="rsk_1" isPast={false} />, MAY);
  expect(await screen.findByText('Rate the risk after treatment first.')).toBeTruthy();
  expect(screen.queryByRole('button')).toBeNull();
});

test('the past can only be read', async () => {
  server({ acceptanceStatus: 'ended', acceptedUntil: '2026-11-01', acceptedById: 'mem_1' });
  draw(<Acceptance id="rsk_1" isPast />, MAY);
  expect(await screen.findByText(`Acceptance ended on ${day('2026-11-01')}`)).toBeTruthy();
  expect(screen.queryByRole('button')).toBeNull();
});

test('months end on the last day of a shorter month', () => {
  expect(monthsLater('2026-11-15', 12)).toBe('2027-11-15');
  expect(monthsLater('2026-08-31', 6)).toBe('2027-02-28');
});
