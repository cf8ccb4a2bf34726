// @vitest-environment jsdom
import { screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { impacts, likelihoods } from '../api/criteria';
import { HeatMap } from '../parts/HeatMap';
import { answer, draw } from '../parts/testing/render';
import { RiskCriteria } from './RiskCriteria';

afterEach(() => vi.unstubAllGlobals());

const steps = (levels: readonly string[], names: Record<string, string> = {}) =>
  levels.map((level) => ({ level, name: names[level] ?? null, description: null }));
const set = {
  likelihood: steps(likelihoods, { very_likely: 'Every month' }),
  impact: steps(impacts),
  appetite: 9,
  acceptanceMonths: 12,
  updatedAt: null,
};

test('steps get names, a name that is taken is refused at its step, and what is typed is sent as a whole', async () => {
  const asked = answer({ '/v1/risk-criteria': () => ({ body: set }) });
  const { user } = draw(<RiskCriteria />, ['risk:read', 'organization:update']);
  const [name] = await screen.findAllByRole('textbox', { name: 'Name of step 1' });
  if (!name) throw new Error('no step');
  await user.type(name, 'likely');
  await user.click(screen.getByRole('button', { name: 'Save' }));
  expect(await screen.findByText('Another step has this name.')).toBeTruthy();
  await user.clear(name);
  await user.type(name, 'Once in ten years');
  const appetite = screen.getByRole('spinbutton', { name: /^Appetite/ });
  await user.clear(appetite);
  await user.type(appetite, '26');
  await user.click(screen.getByRole('button', { name: 'Save' }));
  expect(await screen.findByText(/Enter a whole number from 1 to 25/)).toBeTruthy();
  await user.clear(appetite);
  await user.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(asked.some(({ method }) => method === 'PUT')).toBe(true));
  const sent = JSON.parse(asked.find(({ method }) => method === 'PUT')?.body ?? '');
  expect(sent.likelihood[0]).toEqual({ level: 'very_unlikely', name: 'Once in ten years', description: null });
  expect(sent.likelihood[4].name).toBe('Every month');
  expect([sent.appetite, sent.acceptanceMonths]).toEqual([null, 12]);
});

test('who cannot change them reads them, with the default names of unnamed steps', async () => {
  answer({ '/v1/risk-criteria': () => ({ body: set }) });
  draw(<RiskCriteria />, ['risk:read']);
  expect(await screen.findByText('Every month')).toBeTruthy();
  expect(screen.getByText('Likely')).toBeTruthy();
  expect(screen.queryByRole('textbox')).toBeNull();
});

test('the heat map has the names of the organization, and tells which cells are above the appetite', async () => {
  answer({ '/v1/risk-criteria': () => ({ body: set }) });
  draw(<HeatMap label="Map" counts={[]} appetite={9} onSelect={() => undefined} />, ['risk:read']);
  expect(await screen.findByRole('button', { name: 'Every month, Minor: 0, High, above appetite' })).toBeTruthy();
  const within = screen.getByRole('button', { name: 'Possible, Moderate: 0, Medium' });
  expect(within.hasAttribute('data-bottom')).toBe(false);
  const edge = screen.getByRole('button', { name: /^Likely, Moderate: 0, High, above appetite/ });
  expect([edge.hasAttribute('data-bottom'), edge.hasAttribute('data-left')]).toEqual([true, true]);
});
