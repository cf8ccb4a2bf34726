import '../look/tokens.css?portal';
import './portal.css';
import { call, json, messageOf, wire, word } from './send';

/** The forms: sent as JSON, and replaced by what follows them in the page. */
function forms() {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-send]')) {
    wire(form, form.dataset.send ?? '', (answer) => {
      const step = form.closest('[data-step]') ?? form;
      const next = step.nextElementSibling;
      step.remove();
      if (!(next instanceof HTMLElement)) return;
      for (const link of next.querySelectorAll<HTMLAnchorElement>('a[data-link]')) {
        const url = (answer as Record<string, unknown>)[link.dataset.link ?? ''];
        if (typeof url === 'string') link.href = url;
        else link.remove();
      }
      next.hidden = false;
      next.tabIndex = -1;
      next.focus();
    });
  }
}

/** Buttons that open a file which is made for them. */
function files() {
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-open]')) {
    const problem = button.form?.querySelector('[data-error=""]');
    button.disabled = false;
    button.addEventListener('click', async () => {
      button.disabled = true;
      try {
        location.assign((await json<{ pdfDownloadUrl: string }>(button.dataset.open ?? '', {})).pdfDownloadUrl);
      } catch (error) {
        if (problem) problem.textContent = messageOf(error);
      }
      button.disabled = false;
    });
  }
}

/** Files are fetched here, so that a failure is a sentence in the page. */
function downloads() {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-title]')) {
    const problem = link.nextElementSibling;
    const label = link.textContent;
    link.addEventListener('click', async (event) => {
      event.preventDefault();
      if (link.ariaBusy === 'true') return;
      if (problem) problem.textContent = '';
      link.ariaBusy = 'true';
      link.textContent = word('preparing');
      try {
        const response = await call(link.href);
        const file = document.createElement('a');
        file.href = URL.createObjectURL(await response.blob());
        file.download =
          /filename="?([^";]+)"?/.exec(response.headers.get('Content-Disposition') ?? '')?.[1] ?? `${link.dataset.title}.pdf`;
        file.click();
        setTimeout(() => URL.revokeObjectURL(file.href), 60_000);
      } catch (error) {
        if (problem) problem.textContent = messageOf(error);
      }
      link.textContent = label;
      link.ariaBusy = 'false';
    });
  }
}

/** A link to the form leads into it. */
function links() {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[href="#request"], a[href="#reclaim"]')) {
    link.addEventListener('click', () => {
      const box = document.querySelector<HTMLInputElement>(`[data-list][value="${link.dataset.document}"]`);
      if (box) box.checked = true;
      const first = document.querySelector<HTMLElement>(`${link.hash} input`);
      requestAnimationFrame(() => first?.focus({ preventScroll: true }));
    });
  }
}

const { visit } = document.body.dataset;
// Asking for the access records the visit.
if (visit) void call(visit).catch(() => undefined);
forms();
files();
downloads();
links();
