// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from 'vitest';
import { answer } from '../parts/testing/render';

const PAGE = `
  <div data-step>
    <form data-send="/v1/sign" novalidate>
      <input name="email" type="email" required>
      <p data-error="email"></p>
      <input name="accept" type="checkbox">
      <p data-error="accept"></p>
      <p data-error=""></p>
      <p class="needs-script">Needs a script.</p>
      <button disabled>Sign</button>
    </form>
  </div>
  <div hidden><a data-link="portalUrl">Open</a><a data-link="pdfDownloadUrl">Download</a></div>`;

const one = (selector: string) => document.querySelector<HTMLElement>(selector);
const submit = () => one('form')?.dispatchEvent(new Event('submit', { cancelable: true }));

beforeEach(async () => {
  Object.assign(document.body.dataset, {
    email: 'No address.',
    required: 'Empty.',
    accept: 'Agree.',
    unreachable: 'Away.',
    visit: '/v1/access',
  });
  document.body.innerHTML = PAGE;
  vi.resetModules();
});

test('a form says what is wrong in the words of its page, and is replaced when it has arrived', async () => {
  const asked = answer({
    '/v1/access': () => ({ body: {} }),
    '/v1/sign': () => ({ body: { portalUrl: 'https://x.example/a', pdfDownloadUrl: null } }),
  });
  await import('./main');
  expect(asked).toMatchObject([{ method: 'GET', path: '/v1/access' }]);
  expect(one('.needs-script')).toBeNull();
  submit();
  await vi.waitFor(() => expect(one('[data-error="accept"]')?.textContent).toBe('Agree.'));
  expect(one('[data-error="email"]')?.textContent).toBe('Empty.');
  const email = one('[name=email]') as HTMLInputElement;
  email.value = 'nobody';
  submit();
  await vi.waitFor(() => expect(one('[data-error="email"]')?.textContent).toBe('No address.'));
  email.value = 'grace@customer.example';
  (one('[name=accept]') as HTMLInputElement).checked = true;
  submit();
  await vi.waitFor(() => expect(one('form')).toBeNull());
  expect(asked.at(-1)).toMatchObject({ path: '/v1/sign', body: '{"email":"grace@customer.example","accept":true}' });
  expect([...document.querySelectorAll('a')].map((link) => link.href)).toEqual(['https://x.example/a']);
  expect(one('div')?.hidden).toBe(false);
});

test('a form that does not arrive stays', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('away')));
  await import('./main');
  (one('[name=email]') as HTMLInputElement).value = 'grace@customer.example';
  (one('[name=accept]') as HTMLInputElement).checked = true;
  submit();
  await vi.waitFor(() => expect(one('[data-error=""]')?.textContent).toBe('Away.'));
  expect(one('form')).not.toBeNull();
});
