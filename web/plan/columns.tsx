import { TextInput } from '@mantine/core';
import { IconGripVertical } from '@tabler/icons-react';
import { type KeyboardEvent, useRef, useState } from 'react';
import { day, daysUntil } from '../parts/format';
import { Glyph, type Shape, type Tone } from '../parts/glyphs';
import type { Column, PhoneLine } from '../parts/list/Table';
import { Person } from '../parts/Person';
import { language, t } from '../texts';
import css from './plan.module.css';
import { type Item, move } from './queries';
import type { Row } from './rows';

type Name = (id: string | null) => string | undefined;

const LOOKS: Record<Item['state'], { shape: Shape; tone: Tone }> = {
  done: { shape: 'check', tone: 'ok' },
  due: { shape: 'ring', tone: 'mute' },
  late: { shape: 'alert', tone: 'bad' },
  blocked: { shape: 'dash', tone: 'warn' },
};

function State({ item: { state } }: { item: Item }) {
  return (
    <span className={css.state}>
      <Glyph {...LOOKS[state]} />
      <span className="hidden-visually">{t.plan.list.states[state]}</span>
    </span>
  );
}

/** When it is due in words: lateness counts more than the date. */
function When({ item: { state, dueDate, completedOn } }: { item: Item }) {
  if (state === 'done') return <span className="t2">{completedOn ? t.plan.list.done(day(completedOn)) : ''}</span>;
  if (!dueDate) return <span className="t3">{t.plan.list.setDue}</span>;
  const late = -daysUntil(dueDate);
  return late > 0 ? (
    <span className={css.late} title={day(dueDate)}>
      {t.time.late(late)}
    </span>
  ) : (
    day(dueDate)
  );
}

type Rights = Record<Item['kind'], boolean>;
/** What is done stays in the week in which it was completed. */
export const isMovable = ({ kind, state }: Item, mayMove: Rights) => mayMove[kind] && state !== 'done';

export function columns(name: Name, mayMove: Rights): Column<Row>[] {
  const { list } = t.plan;
  return [
    {
      key: 'title',
      header: list.title,
      opens: true,
      render: (row) => (
        <span className={css.item}>
          <State item={row} />
          <span className="clip">{row.title}</span>
        </span>
      ),
    },
    {
      key: 'kind',
      header: list.kind,
      width: 110,
      priority: 4,
      render: ({ kind }) => <span className="t2">{list.kinds[kind]}</span>,
    },
    {
      key: 'reference',
      header: list.reference,
      width: 84,
      priority: 3,
      render: ({ reference }) => <span className="mono t3">{reference}</span>,
    },
    { key: 'owner', header: list.owner, width: 190, priority: 2, render: ({ assigneeId }) => <Person name={name(assigneeId)} /> },
    {
      key: 'due',
      header: list.due,
      width: 180,
      priority: 1,
      align: 'right',
      render: (row) =>
        isMovable(row, mayMove) ? (
          <span className={css.dueCell}>
            <span className={css.handle} data-drag data-screen aria-hidden="true" title={list.drag}>
              <IconGripVertical size={14} stroke={1.6} />
            </span>
            <Due item={row} />
          </span>
        ) : (
          <When item={row} />
        ),
    },
  ];
}

export function phone(row: Row, name: Name): PhoneLine {
  return {
    title: row.title,
    mark: <State item={row} />,
    facts: (
      <>
        <span className="mono">{row.reference}</span>
        <Person name={name(row.assigneeId)} short />
        <When item={row} />
      </>
    ),
  };
}

/** The due date: a button that turns into its input. Saved on leave or Enter, with a way back. */
function Due({ item }: { item: Item }) {
  const [draft, setDraft] = useState<string>();
  const isSaving = useRef(false);
  const { list } = t.plan;

  async function save() {
    if (isSaving.current || draft === undefined) return;
    if (draft === '' || draft === item.dueDate) return setDraft(undefined);
    isSaving.current = true;
    await move(item, draft, list.moved(item.reference, day(draft)));
    isSaving.current = false;
    setDraft(undefined);
  }

  function keys(event: KeyboardEvent) {
    if (event.key === 'Enter') void save();
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    setDraft(undefined);
  }

  if (draft === undefined)
    return (
      <button
        type="button"
        className={`plain ${css.due}`}
        aria-label={item.dueDate ? list.changeDue(item.reference, day(item.dueDate)) : list.dueOf(item.reference)}
        onClick={() => setDraft(item.dueDate ?? '')}
      >
        <When item={item} />
      </button>
    );
  return (
    <TextInput
      aria-label={list.dueOf(item.reference)}
      size="xs"
      type="date"
      lang={language}
      autoFocus
      value={draft}
      onChange={(event) => setDraft(event.currentTarget.value)}
      onKeyDown={keys}
      onBlur={() => void save()}
    />
  );
}
