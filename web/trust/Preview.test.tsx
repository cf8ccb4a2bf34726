// @vitest-environment jsdom
import { screen, waitFor } from '@testing-library/react';
import { expect, test } from 'vitest';
import { answer, draw } from '../parts/testing/render';
import { Preview } from './Preview';
import type { Settings } from './queries';

const PATH = '/v1/trust-portal/preview';
const settings = { overview: 'Safe.', contactEmail: null, frameworks: [] } as unknown as Settings;

test('shows the page of the server with the changes that are not saved, and runs no script', async () => {
  const asked = answer({ [PATH]: ({ body }) => ({ body: `<p>${body}</p>` }) });
  draw(<Preview settings={settings} draft={{ overview: 'Safer.', contactEmail: '' }} />);
  const frame = await screen.findByTitle('The public page');
  expect(frame.getAttribute('sandbox')).toBe('allow-same-origin');
  expect(frame.getAttribute('srcdoc')).toContain('Safer.');
  expect(asked).toMatchObject([{ method: 'POST', path: PATH, body: '{"overview":"Safer."}' }]);
});

test('says what is missing, and why there is no page', async () => {
  answer({
    [PATH]: () => ({
      status: 400,
      body: { status: 400, code: 'validation_failed', detail: 'contactEmail is no address.', errors: [] },
    }),
  });
  draw(<Preview settings={settings} draft={{ overview: '', contactEmail: 'x' }} />);
  await waitFor(() => expect(screen.getByRole('alert').textContent).toBe('contactEmail is no address.'));
  expect(screen.getByText(/^Write an overview/)).toBeTruthy();
  expect(screen.queryByTitle('The public page')).toBeNull();
});
