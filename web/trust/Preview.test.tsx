// @vitest-environment jsdom
import { createEvent, fireEvent, screen, waitFor } from '@testing-library/react';
import { useState } from 'react';
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

const invalid = { status: 400, code: 'validation_failed', detail: 'contactEmail is no address.', errors: [] };

test('says what is missing, and that there is no page yet', async () => {
  answer({ [PATH]: () => ({ status: 400, body: invalid }) });
  draw(<Preview settings={settings} draft={{ overview: '', contactEmail: 'x' }} />);
  await waitFor(() => expect(screen.getByRole('alert').textContent).toBe('Correct the fields to see the preview.'));
  expect(screen.getByText(/^Write an overview/)).toBeTruthy();
  expect(screen.queryByTitle('The public page')).toBeNull();
});

function Page() {
  const [email, setEmail] = useState('');
  return (
    <>
      <input aria-label="Email" value={email} onChange={(event) => setEmail(event.currentTarget.value)} />
      <Preview settings={settings} draft={{ contactEmail: email }} />
    </>
  );
}

test('keeps the last valid page while the draft is invalid, and its links lead nowhere', async () => {
  answer({
    [PATH]: ({ body }) => (body.includes('"x"') ? { status: 400, body: invalid } : { body: `<p>${body}</p>` }),
  });
  const { user } = draw(<Page />);
  const frame = await screen.findByTitle<HTMLIFrameElement>('The public page');
  const shown = frame.getAttribute('srcdoc');
  await user.type(screen.getByRole('textbox', { name: 'Email' }), 'x');
  await waitFor(() => expect(screen.getByRole('alert').textContent).toBe('The preview shows the last valid state.'));
  expect(screen.getByTitle('The public page').getAttribute('srcdoc')).toBe(shown);

  const page = frame.contentDocument as Document;
  const link = page.body.appendChild(page.createElement('a'));
  fireEvent.load(frame);
  for (const kind of ['click', 'auxclick']) {
    const event = createEvent(kind, link, { bubbles: true, cancelable: true });
    fireEvent(link, event);
    expect(event.defaultPrevented, kind).toBe(true);
  }
});
