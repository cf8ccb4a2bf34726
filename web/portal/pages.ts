import type { components } from '../api/schema';
import { type Block, blocks, type Inline } from '../parts/markdown';
import { el, token } from './dom';
import { call, json, Refusal, wire } from './send';
import { day, t } from './texts';

type Schemas = components['schemas'];

const initials = (name: string) =>
  name
    .split(/\s+/)
    .flatMap((word) => word.match(/[\p{L}\p{N}]/u) ?? [])
    .slice(0, 2)
    .join('')
    .toUpperCase();

/** The company's name above the page, as on its portal. */
function brand(company: string) {
  const mark = el('span', { class: 'mark', 'aria-hidden': 'true' }, initials(company));
  document.body.prepend(el('header', { class: 'brand' }, mark, el('span', {}, company)));
}

/** Replaces the page by what could not be done, and why. */
function failed(main: HTMLElement, error: unknown) {
  const text = error instanceof Refusal ? error.message : t.unreachable;
  main.className = 'alone';
  main.replaceChildren(el('h1', {}, t.failedTitle), el('p', { role: 'alert' }, text));
}

const inline = (all: Inline[]): Node[] =>
  all.map(({ kind, text }) => (kind === 'text' ? document.createTextNode(text) : el(kind, {}, text)));

function shown(block: Block): Node {
  switch (block.kind) {
    case 'heading':
      return el(block.level === 1 ? 'h2' : 'h3', {}, ...inline(block.text));
    case 'paragraph':
      return el('p', {}, ...inline(block.text));
    case 'quote':
      return el('blockquote', {}, ...inline(block.text));
    case 'rule':
      return el('hr');
    case 'list': {
      const items = block.items.map((item) => el('li', {}, ...inline(item)));
      return block.isOrdered ? el('ol', { start: String(block.start) }, ...items) : el('ul', {}, ...items);
    }
  }
}

type Field = { name: string; label: string; type: string; complete: string; help?: string; value?: string };

function field({ name, label, type, complete, help, value }: Field): Node[] {
  const input = el('input', {
    id: name,
    name,
    type,
    autocomplete: complete,
    required: true,
    'aria-describedby': `${name}-error`,
  });
  input.value = value ?? '';
  return [
    el('label', { for: name }, label),
    input,
    ...(help ? [el('p', { class: 'help' }, help)] : []),
    el('p', { class: 'error', id: `${name}-error`, 'data-error': name }),
  ];
}

/** Reading and signing an agreement. */
export async function nda(main: HTMLElement) {
  const path = `/v1/trust-access/nda/${token()}`;
  const offer = await json<Schemas['NdaOffer']>(path);
  brand(offer.organizationName);
  document.title = `${t.nda.title} · ${offer.organizationName}`;
  const problem = el('p', { class: 'error', role: 'alert', 'data-error': '' });
  const pdf = el('button', { type: 'button', class: 'second' }, t.nda.pdf);
  pdf.addEventListener('click', async () => {
    pdf.disabled = true;
    try {
      location.assign((await json<Schemas['NdaPreview']>(`${path}/preview-nda`, {})).pdfDownloadUrl);
    } catch (error) {
      problem.textContent = error instanceof Refusal ? error.message : t.unreachable;
    }
    pdf.disabled = false;
  });
  const accept = el('input', { type: 'checkbox', name: 'accept', id: 'accept', 'aria-describedby': 'accept-error' });
  const isSigned = offer.status === 'signed';
  const form = el(
    'form',
    { novalidate: true },
    ...field({ name: 'name', label: t.nda.name, type: 'text', complete: 'name', value: offer.name }),
    ...field({ name: 'email', label: t.nda.email, type: 'email', complete: 'email', help: t.nda.emailHelp }),
    el('label', { class: 'box', for: 'accept' }, accept, el('span', {}, t.nda.agree)),
    el('p', { class: 'error', id: 'accept-error', 'data-error': 'accept' }),
    problem,
    el('button', {}, t.nda.button),
    pdf,
  );
  const panel = el(
    'aside',
    { class: 'request', 'aria-labelledby': 'sign' },
    el('h2', { id: 'sign', tabindex: '-1' }, t.nda.sign),
    el(
      'p',
      { class: 'lead' },
      isSigned ? t.nda.again : `${t.nda.lasts(offer.durationDays)} ${t.nda.until(day(offer.expiresAt))}`,
    ),
    form,
  );
  wire(form, `${path}/sign`, (answer) => signed(panel, answer as Schemas['NdaSigned']));
  main.className = 'inner body';
  main.replaceChildren(
    el(
      'div',
      { class: 'files' },
      el('h1', {}, t.nda.title),
      el('p', { class: 'lead' }, t.nda.for(offer.organizationName, offer.name, offer.email)),
      el('section', { class: 'doc', tabindex: '0', 'aria-label': t.nda.text }, ...blocks(offer.text).map(shown)),
    ),
    panel,
  );
}

function signed(panel: HTMLElement, { portalUrl, pdfDownloadUrl }: Schemas['NdaSigned']) {
  const title = el('h2', { id: 'sign', tabindex: '-1' }, t.nda.doneTitle);
  panel.replaceChildren(
    title,
    el('p', { class: 'lead' }, t.nda.done),
    ...(portalUrl ? [el('a', { class: 'button', href: portalUrl }, t.nda.open)] : []),
    ...(pdfDownloadUrl ? [el('a', { class: 'button second', href: pdfDownloadUrl }, t.nda.download)] : []),
  );
  title.focus();
}

/** A file is fetched here, so that a failure is a sentence in the page. */
function download(title: string, path: string): HTMLElement {
  const link = el('a', { class: 'ask', href: path, 'aria-label': t.access.downloadOf(title) }, t.access.download);
  const problem = el('small', { class: 'error', role: 'alert' });
  link.addEventListener('click', async (event) => {
    event.preventDefault();
    if (link.ariaBusy === 'true') return;
    problem.textContent = '';
    link.ariaBusy = 'true';
    link.textContent = t.access.preparing;
    try {
      const response = await call(path);
      const name = /filename="?([^";]+)"?/.exec(response.headers.get('Content-Disposition') ?? '')?.[1];
      const file = el('a', { href: URL.createObjectURL(await response.blob()), download: name ?? `${title}.pdf` });
      file.click();
      setTimeout(() => URL.revokeObjectURL(file.href), 60_000);
    } catch (error) {
      problem.textContent = error instanceof Refusal ? error.message : t.unreachable;
    }
    link.textContent = t.access.download;
    link.ariaBusy = 'false';
  });
  return el('span', { class: 'get' }, link, problem);
}

function row(title: string, more: string, end: Node): HTMLElement {
  return el('li', {}, el('span', { class: 'words' }, el('b', {}, title), el('small', {}, more)), end);
}

/** What a link gives access to. */
export async function access(main: HTMLElement) {
  const path = `/v1/trust-access/access/${token()}`;
  const found = await json<Schemas['PortalAccess']>(path);
  const { organizationName, policies, complianceResources } = found;
  brand(organizationName);
  document.title = t.access.title(organizationName);
  const certificates = complianceResources.map((one) =>
    row(one.title, one.fileName, download(one.title, `${path}/compliance-resources/${one.framework}`)),
  );
  const documents = policies.map((one) => {
    const end = one.isDownloadable
      ? download(one.name, `${path}/policies/${one.id}`)
      : el('span', { class: 'kind' }, t.access.notAFile);
    return row(one.name, t.access.version(one.version, day(one.publishedAt)), end);
  });
  if (policies.length > 1) documents.push(row(t.access.all, 'PDF', download(t.access.all, `${path}/policies/download-all`)));
  const section = (title: string, rows: Node[]) =>
    rows.length > 0 && el('section', {}, el('h2', {}, title), el('ul', { class: 'documents' }, ...rows));
  main.className = 'inner reading';
  main.replaceChildren(
    el('h1', {}, t.access.title(organizationName)),
    el('p', { class: 'lead' }, t.access.lead(found.name, found.email, day(found.expiresAt))),
  );
  const sections = [section(t.access.certificates, certificates), section(t.access.policies, documents)];
  for (const one of sections) if (one) main.append(one);
  if (!sections.some(Boolean)) main.append(el('p', { class: 'none' }, t.access.nothing));
}

/** One button: nothing happens because a mail program looked at the link. */
function button(kind: 'confirm' | 'leave', path: string) {
  return async (main: HTMLElement) => {
    const texts = t[kind];
    document.title = texts.title;
    const form = el(
      'form',
      { novalidate: true },
      el('input', { type: 'hidden', name: 'token', value: decodeURIComponent(token()) }),
      el('p', { class: 'error', role: 'alert', 'data-error': '' }),
      el('button', {}, texts.button),
    );
    const lead = el('p', {}, texts.text);
    wire(form, path, () => {
      lead.setAttribute('role', 'status');
      lead.textContent = texts.done;
      form.remove();
    });
    main.replaceChildren(el('h1', {}, texts.title), lead, form);
  };
}

export const pages: Record<string, (main: HTMLElement) => Promise<void>> = {
  nda,
  access,
  confirm: button('confirm', '/v1/trust-access/subscriptions/confirm'),
  leave: button('leave', '/v1/trust-access/subscriptions/unsubscribe'),
};

export async function show(name: string, main: HTMLElement) {
  await pages[name]?.(main).catch((error) => failed(main, error));
}
