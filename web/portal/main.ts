import '../look/tokens.css?portal';
import './portal.css';
import { show } from './pages';
import { wire } from './send';
import { language } from './texts';

/** The forms of a portal's page: sent as JSON, and replaced by what the server says when they arrive. */
function forms() {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-send]')) {
    const sent = form.nextElementSibling;
    wire(form, form.dataset.send ?? '', () => {
      form.remove();
      if (!(sent instanceof HTMLElement)) return;
      sent.hidden = false;
      sent.tabIndex = -1;
      sent.focus();
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

const { page } = document.body.dataset;
const main = document.querySelector('main');
if (page && main) {
  document.documentElement.lang = language;
  void show(page, main);
} else {
  forms();
  links();
}
