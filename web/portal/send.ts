import type { components } from '../api/schema';

type Problem = components['schemas']['Problem'];

/** What the script says, which the page brings in its language. */
export const word = (name: 'accept' | 'email' | 'preparing' | 'required' | 'unreachable') => document.body.dataset[name] ?? '';

/** What went wrong, in a sentence, and what is wrong with each field. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly fields: { field: string; message: string }[] = [],
  ) {
    super(message);
  }
}

async function refusal(response: Response): Promise<Refusal> {
  try {
    const problem = (await response.json()) as Problem;
    return new Refusal(problem.detail, problem.errors ?? []);
  } catch {
    return new Refusal(word('unreachable'));
  }
}

export const messageOf = (error: unknown) => (error instanceof Refusal ? error.message : word('unreachable'));

/** The answer of the server, or a refusal. */
export async function call(path: string, body?: object): Promise<Response> {
  const options = body && { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(path, options).catch(() => {
    throw new Refusal(word('unreachable'));
  });
  if (!response.ok) throw await refusal(response);
  return response;
}

export const json = async <T>(path: string, body?: object): Promise<T> => (await call(path, body)).json() as Promise<T>;

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** What is wrong with an input before anything is sent. */
function lacks(input: HTMLInputElement | HTMLTextAreaElement): string | undefined {
  // A list of choices may stay empty; a single box is something to agree to.
  if (input.dataset.list !== undefined) return undefined;
  if (input.type === 'checkbox') return input instanceof HTMLInputElement && !input.checked ? word('accept') : undefined;
  if (input.required && input.value.trim() === '') return word('required');
  if (input.type === 'email' && input.value && !EMAIL.test(input.value.trim())) return word('email');
  return undefined;
}

const inputs = (form: HTMLFormElement) => [...form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input, textarea')];

function say(form: HTMLFormElement, name: string, text: string) {
  const slot = form.querySelector<HTMLElement>(`[data-error="${CSS.escape(name)}"]`) ?? form.querySelector('[data-error=""]');
  if (slot) slot.textContent = text;
  const input = form.querySelector(`[name="${CSS.escape(name)}"]`);
  // An empty value would say that it is valid.
  if (text === '') input?.removeAttribute('aria-invalid');
  else input?.setAttribute('aria-invalid', 'true');
}

function valuesOf(form: HTMLFormElement) {
  const all: Record<string, string | boolean | string[]> = {};
  for (const input of inputs(form)) {
    if (input.dataset.list !== undefined)
      all[input.name] = [...form.querySelectorAll<HTMLInputElement>('[data-list]:checked')].map(({ value }) => value);
    else if (input instanceof HTMLInputElement && input.type === 'checkbox') all[input.name] = input.checked;
    else if (input.value.trim() !== '') all[input.name] = input.value.trim();
  }
  return all;
}

/** Sends a form as JSON; says beside each field what is wrong with it, first on leaving it and then when it is sent. */
export function wire(form: HTMLFormElement, path: string, done: (answer: unknown) => void) {
  const button = form.querySelector('button');
  if (button) button.disabled = false;
  for (const note of form.querySelectorAll('.needs-script')) note.remove();
  form.addEventListener('focusout', ({ target }) => {
    if (!(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)) return;
    if (target.type !== 'checkbox' && target.value !== '') say(form, target.name, lacks(target) ?? '');
  });
  // What is mended is no longer wrong while it is typed: nothing moves under the pointer on its way to the button.
  form.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)) return;
    if (target.hasAttribute('aria-invalid') && !lacks(target)) say(form, target.name, '');
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit();
  });

  async function submit() {
    for (const slot of form.querySelectorAll<HTMLElement>('[data-error]')) say(form, slot.dataset.error ?? '', '');
    const wrong = inputs(form).flatMap((input) => {
      const text = lacks(input);
      return text ? [{ input, text }] : [];
    });
    for (const { input, text } of wrong) say(form, input.name, text);
    if (wrong[0]) return wrong[0].input.focus();
    if (button) button.disabled = true;
    form.setAttribute('aria-busy', 'true');
    try {
      done(await json(path, valuesOf(form)));
    } catch (error) {
      const refused = error instanceof Refusal ? error : new Refusal(word('unreachable'));
      for (const { field, message } of refused.fields) say(form, field, message.charAt(0).toUpperCase() + message.slice(1));
      if (refused.fields.length === 0) say(form, '', refused.message);
      form.querySelector<HTMLElement>('[aria-invalid]')?.focus();
    } finally {
      if (button) button.disabled = false;
      form.removeAttribute('aria-busy');
    }
  }
}
