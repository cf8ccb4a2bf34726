// @vitest-environment jsdom
import { screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { Problem } from '../../api/problem';
import { answer, draw } from '../testing/render';
import { BulkLinks } from './BulkLinks';

afterEach(() => vi.unstubAllGlobals());

const risk = (id: string, reference: string, title: string) => ({ id, reference, title });
const served = () =>
  answer({
    '/v1/risks': () => ({ body: { data: [risk('rsk_1', 'R-1', 'Fire'), risk('rsk_2', 'R-2', 'Flood')], nextCursor: null } }),
  });
const dialog = (onSave: (links: object) => Promise<void>, verb: 'link' | 'unlink' = 'link') => (
  <BulkLinks verb={verb} count={3} onSave={onSave} onClose={() => undefined} />
);

test('records of a kind are chosen and sent together', async () => {
  served();
  const save = vi.fn(async () => undefined);
  const { user } = draw(dialog(save), ['risk:read']);
  await user.click(await screen.findByRole('combobox', { name: 'Records' }));
  await user.click(await screen.findByRole('option', { name: 'R-1 Fire' }));
  await user.click(await screen.findByRole('option', { name: 'R-2 Flood' }));
  await user.click(screen.getByRole('button', { name: 'Link 3 controls' }));
  expect(save).toHaveBeenCalledWith({ riskIds: ['rsk_1', 'rsk_2'] });
});

test('nothing is sent before a record is chosen', async () => {
  served();
  const save = vi.fn(async () => undefined);
  const { user } = draw(dialog(save, 'unlink'), ['risk:read']);
  await user.click(await screen.findByRole('button', { name: 'Unlink 3 controls' }));
  expect(screen.getByText('Choose at least one record.')).toBeTruthy();
  expect(save).not.toHaveBeenCalled();
});

test('a refusal is shown at the field, and the choice stays', async () => {
  served();
  const refuse = async () => {
    throw new Problem(422, 'too_many_links', 'C-1 would have more than 200 risks.');
  };
  const { user } = draw(dialog(refuse), ['risk:read']);
  await user.click(await screen.findByRole('combobox', { name: 'Records' }));
  await user.click(await screen.findByRole('option', { name: 'R-1 Fire' }));
  await user.click(screen.getByRole('button', { name: 'Link 3 controls' }));
  await waitFor(() => expect(screen.getByText(/more than 200 risks/)).toBeTruthy());
  expect(screen.getAllByText('R-1 Fire').length).toBeGreaterThan(0);
});
