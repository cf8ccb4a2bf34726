import { Checkbox, Select, Textarea, TextInput } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { type FocusEvent, type KeyboardEvent, type MouseEvent, type ReactNode, useRef, useState } from 'react';
import { Problem, sentence, words } from '../api/problem';
import { t } from '../texts';
import { useDraft } from './drafts';
import css from './Field.module.css';
import { withHints } from './hints';

type Choice = { value: string; label: string };
type Hints = Record<string, string>;
export type Kind = 'text' | 'long' | 'date' | 'choice' | 'yes';
export type Value = string | boolean | null;

type Props = {
  /** The API's name of the field. */
  name: string;
  label: string;
  kind: Kind;
  value: Value;
  /** The stored value, where it differs from `value`: a default that is shown as not set. */
  stored?: Value;
  /** How the value reads. */
  children: ReactNode;
  choices?: Choice[];
  /** What the choices mean. */
  hints?: Hints;
  /** The record it is of: what was typed and not saved is kept under it. */
  record?: string;
  /** Whether it can be emptied. */
  optional?: boolean;
  /** Without it the field is only read. `seen` is the value when the reader began to type. */
  onSave?: (value: Value, seen?: Value) => Promise<unknown>;
};

/** How many characters of an element's text are before the place of a click. */
function offsetAt(root: HTMLElement | null, { clientX, clientY }: MouseEvent): number | undefined {
  const place = document.caretPositionFromPoint?.(clientX, clientY);
  if (!place || !root?.contains(place.offsetNode)) return undefined;
  const range = document.createRange();
  range.setStart(root, 0);
  range.setEnd(place.offsetNode, place.offset);
  return range.toString().length;
}

/**
 * A value that is a button and turns into its input. Saved on leave or Enter; Escape leaves it as it was, and what was
 * typed stays a draft until it is saved or discarded.
 */
export function Field({ name, label, kind, value, stored = value, children, choices, hints, record, optional, onSave }: Props) {
  const [draft, setDraft] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const button = useRef<HTMLButtonElement>(null);
  const isSaving = useRef(false);
  const seen = useRef<Value>(undefined);
  const shown = useRef<HTMLSpanElement>(null);
  const caret = useRef<number>(undefined);
  const [kept, keep, discard] = useDraft<string | null>(`field:${record ?? ''}:${name}`, null);
  const type = (text: string) => {
    setDraft(text);
    if (record) keep(text === (value ?? '') ? null : text);
  };

  async function save(next: Value) {
    if (isSaving.current || !onSave) return;
    if (next === value || (next === '' && value === null)) return leave();
    isSaving.current = true;
    try {
      await onSave(next === '' && optional ? null : next, draft === undefined ? undefined : seen.current);
      discard();
      leave();
    } catch (error) {
      const own = error instanceof Problem ? error.errors.find((one) => one.field === name) : undefined;
      setProblem(own ? sentence(own.message) : words(error));
    } finally {
      isSaving.current = false;
    }
  }

  function leave() {
    setDraft(undefined);
    setProblem(undefined);
    requestAnimationFrame(() => button.current?.focus());
  }

  function keys(event: KeyboardEvent) {
    if (event.key === 'Escape') {
      event.stopPropagation();
      leave();
    } else if (event.key === 'Enter' && (kind !== 'long' || event.metaKey || event.ctrlKey)) {
      event.preventDefault();
      void save(draft ?? '');
    }
  }

  const text = {
    'aria-label': label,
    error: problem,
    autoFocus: true,
    value: draft ?? '',
    onKeyDown: keys,
    onBlur: () => void save(draft ?? ''),
    // The caret starts where the click was.
    onFocus: ({ currentTarget }: FocusEvent<HTMLInputElement | HTMLTextAreaElement>) => {
      if (caret.current !== undefined && kind !== 'date') currentTarget.setSelectionRange(caret.current, caret.current);
      caret.current = undefined;
    },
  } as const;
  const input = {
    text: () => <TextInput {...text} onChange={(event) => type(event.currentTarget.value)} />,
    long: () => <Textarea {...text} autosize minRows={3} maxRows={14} onChange={(event) => type(event.currentTarget.value)} />,
    date: () => <TextInput {...text} type="date" onChange={(event) => setDraft(event.currentTarget.value)} />,
    choice: () => (
      <Select
        aria-label={label}
        error={problem}
        data={choices}
        renderOption={withHints(hints)}
        value={draft || null}
        clearable={optional}
        allowDeselect={optional ?? false}
        searchable={(choices?.length ?? 0) > 8}
        autoFocus
        defaultDropdownOpened
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          leave();
        }}
        onChange={(next) => void save(next ?? '')}
        onBlur={leave}
      />
    ),
    yes: () => null,
  }[kind];

  return (
    <div className={css.field} data-long={kind === 'long' || undefined}>
      <dt>{label}</dt>
      <dd>
        {kind === 'yes' ? (
          <Checkbox
            aria-label={label}
            checked={value === true}
            disabled={!onSave}
            onChange={(event) => void save(event.currentTarget.checked)}
            error={problem}
          />
        ) : draft !== undefined ? (
          input()
        ) : onSave ? (
          <button
            ref={button}
            type="button"
            className={css.value}
            onClick={(event) => {
              seen.current = stored;
              caret.current = kept === null ? offsetAt(shown.current, event) : undefined;
              setDraft(kept ?? (typeof value === 'string' ? value : ''));
            }}
          >
            <span className="hidden-visually">{label}: </span>
            <span ref={shown} className={css.shown}>
              {children || <span className="t3">{t.edits.none}</span>}
            </span>
            <IconPencil className={css.pencil} size={14} stroke={1.6} aria-hidden="true" />
          </button>
        ) : (
          <span className={css.plain}>{children || <span className="t3">{t.edits.none}</span>}</span>
        )}
        {draft === undefined && onSave && kept !== null && (
          <span className={css.kept} role="status">
            {t.drafts.kept}{' '}
            <button type="button" className="plain link" onClick={discard}>
              {t.drafts.discard}
            </button>
          </span>
        )}
      </dd>
    </div>
  );
}
