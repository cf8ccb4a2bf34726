import { Button, Checkbox, Kbd, Select, Textarea } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type KeyboardEvent, memo, type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { usePeople } from '../api/people';
import { COMMAND } from '../parts/keys';
import { Person } from '../parts/Person';
import { usePrinting } from '../parts/print';
import { StatusPill } from '../parts/StatusPill';
import { useShortcuts } from '../parts/shortcuts';
import { t } from '../texts';
import type { Answers, Trouble } from './answers';
import { Evidence, far, Gaps, Justification, says, YesNo } from './cells';
import { clause, nextGap, type Patch, type Row, type Theme, themes, whole } from './logic';
import css from './soa.module.css';

type Key = 'pick' | 'control' | 'applies' | 'justification' | 'status' | 'owner' | 'evidence' | 'gap';
type Column = { key: Key; width?: number /** Left out where the grid is narrower. */; from: number; changes?: boolean };

const COLUMNS: Column[] = [
  { key: 'pick', width: 48, from: 0, changes: true },
  { key: 'control', from: 0 },
  { key: 'applies', width: 96, from: 0, changes: true },
  { key: 'justification', width: 270, from: 560, changes: true },
  { key: 'status', width: 128, from: 1320, changes: true },
  { key: 'owner', width: 138, from: 880, changes: true },
  { key: 'evidence', width: 136, from: 980 },
  { key: 'gap', width: 152, from: 720 },
];

type Place = { id: string; key: Key };
/** The cell whose input is open; a "no" that waits for its reason goes with it. */
type Editing = Place & { isApplicable?: boolean };
type Act =
  | { do: 'go' | 'edit' | 'pick' | 'open' | 'retry' | 'forget' }
  | { do: 'say'; isApplicable: boolean }
  | { do: 'save'; patch: Patch; to: 'next' | 'stay' | 'away' }
  | { do: 'leave'; to: 'stay' | 'away' };

export type GridProps = {
  rows: Row[];
  answers: Answers;
  mayChange: boolean;
  selected: Set<string>;
  onSelect: (next: Set<string>) => void;
  /** The open row. */
  open?: string;
  onOpen: (id: string) => void;
  /** A row to go to; a new object goes there again. */
  target?: { id: string };
  foot?: ReactNode;
};

/** The statement as a grid: one tab stop, one active cell, everything by keys. */
export function Grid({ rows, answers, selected, onSelect, open, onOpen, target, foot, ...props }: GridProps) {
  const isPrinting = usePrinting();
  const mayChange = props.mayChange && !isPrinting;
  const people = usePeople();
  const { ref: box, width: measured } = useElementSize();
  // Before it is measured, as wide as the page has room for.
  const width = measured || (document.getElementById('main')?.clientWidth ?? 0);
  const grid = useRef<HTMLTableElement>(null);
  const [active, setActive] = useState<Place>();
  const [editing, setEditing] = useState<Editing>();
  const wantsFocus = useRef(false);
  const columns = COLUMNS.filter(({ key, from }) => width >= from && (mayChange || key !== 'pick'));
  const groups = themes(rows);
  const first = rows[0]?.question.id;
  const here: Place | undefined =
    active && rows.some(({ question }) => question.id === active.id) ? active : first ? { id: first, key: 'applies' } : undefined;
  const key = columns.some((one) => one.key === here?.key) ? here?.key : 'control';

  function go(next: Partial<Place>) {
    if (!here) return;
    wantsFocus.current = true;
    setEditing(undefined);
    setActive({ ...here, ...next });
  }
  const at = rows.findIndex(({ question }) => question.id === here?.id);
  const near = (step: number) => rows[Math.min(rows.length - 1, Math.max(0, at + step))]?.question.id ?? '';
  const goGap = () => {
    const gap = nextGap(rows, here?.id);
    if (gap) go({ id: gap.question.id });
  };

  useEffect(() => {
    if (!wantsFocus.current || editing || !here) return;
    wantsFocus.current = false;
    const cell = grid.current?.querySelector<HTMLElement>(`[data-cell="${here.id} ${key}"]`);
    cell?.focus({ preventScroll: true });
    cell?.scrollIntoView({ block: 'nearest' });
  });
  // After the one above, which would otherwise go to where the reader was before.
  useEffect(() => {
    if (!target) return;
    wantsFocus.current = true;
    setEditing(undefined);
    setActive((old) => ({ key: old?.key ?? 'applies', id: target.id }));
  }, [target]);
  useShortcuts({ g: goGap, j: () => go({ id: near(1) }), k: () => go({ id: near(-1) }) });

  const toggle = (id: string) => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    onSelect(next);
  };
  /** A yes is said at once; a no opens the cell for its reason, unless it was a no already. */
  function say(row: Row, isApplicable: boolean) {
    const { id } = row.question;
    if (isApplicable || row.answer?.isApplicable === false) {
      void answers.save(id, { isApplicable });
      go({ id, key: 'applies' });
    } else {
      setActive({ id, key: 'justification' });
      setEditing({ id, key: 'justification', isApplicable: false });
    }
  }
  function begin(row: Row, cell: Key) {
    const { id } = row.question;
    if (cell === 'pick') toggle(id);
    else if (!COLUMNS.find((one) => one.key === cell)?.changes || !mayChange) onOpen(id);
    else if (cell === 'applies') say(row, !row.answer?.isApplicable);
    else setEditing({ id, key: cell });
  }
  /** What the row above says in this column. */
  function copyFromAbove(row: Row) {
    const above = rows[at - 1]?.answer;
    if (!above) return;
    const all = whole(above);
    const isApplicable = above.isApplicable;
    const patch: Partial<Record<Key, Patch>> = {
      applies: { isApplicable, ...(isApplicable ? {} : { justification: all.justification }) },
      justification: { isApplicable, justification: all.justification },
      status: { implementationStatus: all.implementationStatus },
      owner: { ownerId: all.ownerId },
    };
    const chosen = key && patch[key];
    if (chosen) void answers.save(row.question.id, chosen);
  }

  function act(row: Row, cell: Key, what: Act) {
    const { id } = row.question;
    // Whoever came by saying no goes on saying yes or no.
    const back = editing?.isApplicable === false ? 'applies' : cell;
    const does: Record<Act['do'], () => void> = {
      go: () => go({ id, key: cell }),
      edit: () => {
        setActive({ id, key: cell });
        begin(row, cell);
      },
      pick: () => toggle(id),
      open: () => onOpen(id),
      retry: () => void answers.save(id, answers.troubles[id]?.patch ?? {}),
      forget: () => answers.forget(id),
      say: () => what.do === 'say' && say(row, what.isApplicable),
      save: () => {
        if (what.do !== 'save') return;
        if (Object.keys(what.patch).length > 0) void answers.save(id, what.patch);
        if (what.to === 'away') setEditing(undefined);
        else go({ id: what.to === 'next' ? near(1) : id, key: back });
      },
      leave: () => (what.do === 'leave' && what.to === 'away' ? setEditing(undefined) : go({ id, key: back })),
    };
    does[what.do]();
  }
  const latest = useRef(act);
  latest.current = act;
  const stable = useCallback((row: Row, cell: Key, what: Act) => latest.current(row, cell, what), []);

  function press(event: KeyboardEvent) {
    const row = rows[at];
    if (editing || !row || !here || !key) return;
    const place = columns.findIndex((one) => one.key === key);
    const side = (step: number) => columns[Math.min(columns.length - 1, Math.max(0, place + step))]?.key ?? key;
    const isCommand = event.metaKey || event.ctrlKey;
    const moves: Record<string, () => void> = {
      ArrowDown: () => go({ id: near(1) }),
      ArrowUp: () => go({ id: near(-1) }),
      ArrowRight: () => go({ key: side(1) }),
      ArrowLeft: () => go({ key: side(-1) }),
      PageDown: () => go({ id: near(12) }),
      PageUp: () => go({ id: near(-12) }),
      Home: () => go(isCommand ? { id: near(-rows.length) } : { key: side(-columns.length) }),
      End: () => go(isCommand ? { id: near(rows.length) } : { key: side(columns.length) }),
      Enter: () => begin(row, key),
      F2: () => begin(row, key),
    };
    const changes: Record<string, () => void> = {
      y: () => say(row, true),
      n: () => say(row, false),
      c: () => row.answer?.state === 'proposed' && void answers.save(here.id, {}),
      x: () => toggle(here.id),
      ' ': () => toggle(here.id),
    };
    const commands: Record<string, () => void> = {
      d: () => copyFromAbove(row),
      z: () => {
        const id = answers.undo();
        if (id) go({ id });
      },
    };
    const does = moves[event.key] ?? (mayChange ? (isCommand ? commands : changes)[event.key.toLowerCase()] : undefined);
    if (!does || event.altKey) return;
    event.preventDefault();
    does();
  }

  const span = columns.length + 1;
  return (
    <div ref={box} className={css.box}>
      <table
        ref={grid}
        className={css.grid}
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table is what a grid is made of
        role="grid"
        aria-label={t.soa.grid}
        aria-rowcount={rows.length}
        aria-multiselectable={mayChange || undefined}
        onKeyDown={press}
        onFocus={({ target }) => {
          const [id, cell] = target.dataset.cell?.split(' ') ?? [];
          if (id && cell && !editing) setActive({ id, key: cell as Key });
        }}
      >
        <colgroup>
          {columns.map((column) => [
            column.key === 'control' && <col key="code" style={{ width: mayChange ? 72 : 90 }} />,
            <col key={column.key} style={{ width: column.width }} />,
          ])}
        </colgroup>
        <thead>
          <tr>
            {columns.map((column) => [
              column.key === 'control' && (
                <th key="code" scope="col">
                  {t.soa.columns.code}
                </th>
              ),
              <th key={column.key} scope="col">
                {column.key === 'pick' ? (
                  <span className="hidden-visually">{t.soa.columns.pick}</span>
                ) : (
                  t.soa.columns[column.key]
                )}
              </th>,
            ])}
          </tr>
        </thead>
        {groups.map((theme) => (
          <tbody key={theme.name}>
            <ThemeRow theme={theme} span={span} />
            {theme.rows.map((row) => {
              const { id } = row.question;
              const isHere = here?.id === id;
              return (
                <GridRow
                  key={id}
                  row={row}
                  columns={width}
                  mayChange={mayChange}
                  active={isHere && !isPrinting ? key : undefined}
                  editing={editing?.id === id ? editing : undefined}
                  isPicked={selected.has(id)}
                  isOpen={open === id}
                  trouble={answers.troubles[id]}
                  owner={people.name(row.answer?.ownerId ?? row.drivers.ownerId)}
                  act={stable}
                />
              );
            })}
          </tbody>
        ))}
      </table>
      {foot}
    </div>
  );
}

function ThemeRow({ theme, span }: { theme: Theme; span: number }) {
  return (
    <tr className={css.theme}>
      <th colSpan={span} scope="colgroup">
        <b>{[clause(theme), theme.name].filter(Boolean).join(' ')}</b>{' '}
        <span className="num t3">{t.soa.controls(theme.rows.length)}</span>
      </th>
    </tr>
  );
}

type RowProps = {
  row: Row;
  /** The width that decides which columns there are. */
  columns: number;
  mayChange: boolean;
  active?: Key;
  editing?: Editing;
  isPicked: boolean;
  isOpen: boolean;
  trouble?: Trouble;
  owner?: string;
  act: (row: Row, cell: Key, what: Act) => void;
};

const GridRow = memo(function GridRow({
  row,
  columns,
  mayChange,
  active,
  editing,
  isPicked,
  isOpen,
  trouble,
  owner,
  act,
}: RowProps) {
  const { question, answer } = row;
  const shown = COLUMNS.filter(({ key, from }) => columns >= from && (mayChange || key !== 'pick'));
  const status = far()[answer?.implementationStatus ?? ''];
  const content: Record<Key, () => ReactNode> = {
    pick: () => <Checkbox.Indicator checked={isPicked} size="xs" aria-hidden="true" />,
    control: () => (
      <span className={css.name} title={question.title}>
        {question.title}
      </span>
    ),
    applies: () =>
      active && mayChange ? (
        <YesNo row={row} onSay={(isApplicable) => act(row, 'applies', { do: 'say', isApplicable })} />
      ) : (
        <span className={answer ? css.said : 't3'} data-proposed={answer?.state === 'proposed' || undefined}>
          {says(answer)}
        </span>
      ),
    justification: () => <Justification row={row} />,
    status: () => answer?.isApplicable && (status ? <StatusPill {...status} /> : <span className="t3">{t.edits.none}</span>),
    owner: () => answer?.isApplicable && (owner ? <Person name={owner} short /> : <span className="t3">{t.edits.none}</span>),
    evidence: () => answer?.isApplicable !== false && <Evidence row={row} />,
    gap: () => <Gaps row={row} />,
  };
  return (
    <>
      <tr
        className={css.row}
        data-active={active !== undefined || undefined}
        data-open={isOpen || undefined}
        data-proposed={answer?.state === 'proposed' || undefined}
        data-out={answer?.isApplicable === false || undefined}
        aria-selected={mayChange ? isPicked : undefined}
      >
        {shown.map(({ key }) => {
          const isEditing = editing?.key === key;
          return [
            key === 'control' && (
              <th key="code" scope="row" className="mono t3">
                {question.code}
              </th>
            ),
            // biome-ignore lint/a11y/useKeyWithClickEvents: the grid hears the keys
            <td
              key={key}
              data-cell={`${question.id} ${key}`}
              data-editing={isEditing || undefined}
              tabIndex={active === key && !isEditing ? 0 : -1}
              aria-label={label(key, row, isPicked)}
              aria-invalid={trouble && key === 'applies' ? true : undefined}
              onClick={() => !isEditing && act(row, key, { do: opensAtOnce(key) ? 'edit' : 'go' })}
            >
              {isEditing ? <Editor row={row} editing={editing} act={act} /> : content[key]()}
            </td>,
          ];
        })}
      </tr>
      {trouble && (
        <tr className={css.trouble}>
          <td colSpan={shown.length + 1}>
            <span role="alert">{t.soa.notSaved(question.code, trouble.text)}</span>
            <Button size="xs" variant="default" onClick={() => act(row, 'applies', { do: 'retry' })}>
              {t.actions.retry}
            </Button>
            <Button size="xs" variant="subtle" onClick={() => act(row, 'applies', { do: 'forget' })}>
              {t.soa.discard}
            </Button>
          </td>
        </tr>
      )}
    </>
  );
});

/** A click goes to a yes or no, which then has its buttons; in other cells it opens what Enter opens. */
const opensAtOnce = (key: Key) => key !== 'applies';

/** A cell that shows only a shape still has a name. */
function label(key: Key, row: Row, isPicked: boolean): string | undefined {
  if (key === 'pick') return `${t.table.select(row.question.code)}${isPicked ? ` ✓` : ''}`;
  return undefined;
}

/** The input of a cell. Enter saves and goes on, Escape leaves it as it was, leaving saves. */
function Editor({ row, editing, act }: { row: Row; editing: Editing; act: RowProps['act'] }) {
  const people = usePeople();
  const { key } = editing;
  if (key === 'justification') return <WhyEditor row={row} editing={editing} act={act} />;
  const choices =
    key === 'owner'
      ? people.active.map(({ id, user }) => ({ value: id, label: user.name }))
      : Object.entries(t.soa.implementation).map(([value, label]) => ({ value, label }));
  const now = key === 'owner' ? row.answer?.ownerId : row.answer?.implementationStatus;
  const patch = (value: string | null): Patch =>
    key === 'owner' ? { ownerId: value } : { implementationStatus: value as Patch['implementationStatus'] };
  return (
    <Select
      className={css.input}
      aria-label={`${row.question.code} ${t.soa.columns[key]}`}
      data={choices}
      value={now ?? null}
      clearable
      searchable={choices.length > 8}
      autoFocus
      defaultDropdownOpened
      comboboxProps={{ width: 220, position: 'bottom-start' }}
      onKeyDown={(event) => event.key === 'Escape' && act(row, key, { do: 'leave', to: 'stay' })}
      onBlur={() => act(row, key, { do: 'leave', to: 'away' })}
      onChange={(next) => act(row, key, { do: 'save', patch: patch(next), to: 'stay' })}
    />
  );
}

function WhyEditor({ row, editing, act }: { row: Row; editing: Editing; act: RowProps['act'] }) {
  const isNew = editing.isApplicable === false;
  const before = isNew ? '' : (row.answer?.justification ?? '');
  const [text, setText] = useState(before);
  const [problem, setProblem] = useState<string>();
  const isOver = useRef(false);

  function save(to: 'next' | 'away') {
    if (isOver.current) return;
    const said = text.trim();
    const needsOne = isNew || row.answer?.isApplicable === false;
    if (needsOne && said === '') {
      // Whoever only looks elsewhere has not said no.
      if (to === 'next') return setProblem(t.soa.why);
      isOver.current = true;
      return act(row, 'justification', { do: 'leave', to });
    }
    isOver.current = true;
    const patch: Patch = said === before.trim() && !isNew ? {} : { justification: said };
    act(row, 'justification', { do: 'save', patch: isNew ? { ...patch, isApplicable: false } : patch, to });
  }

  return (
    <Textarea
      className={css.input}
      aria-label={`${row.question.code} ${t.soa.columns.justification}`}
      placeholder={isNew ? t.soa.why : undefined}
      autosize
      minRows={1}
      maxRows={8}
      autoFocus
      value={text}
      error={problem}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={() => save('away')}
      onKeyDown={(event) => {
        if (event.key === 'Escape') {
          isOver.current = true;
          event.preventDefault();
          event.stopPropagation();
          act(row, 'justification', { do: 'leave', to: 'stay' });
        } else if (event.key === 'Enter' && !event.shiftKey) {
          event.preventDefault();
          save('next');
        }
      }}
    />
  );
}

/** The keys, printed where they work. */
export function Keys({ hasProposals }: { hasProposals: boolean }) {
  const { keys } = t.soa;
  const all: [string[], string][] = [
    [['↑', '↓', '←', '→'], keys.move],
    [['Enter'], keys.edit],
    [['Y', 'N'], keys.applies],
    [['G'], keys.gap],
    ...(hasProposals ? [[['C'], keys.confirm] as [string[], string]] : []),
    [['X'], keys.select],
    [[COMMAND, 'D'], keys.copy],
    [[COMMAND, 'Z'], keys.undo],
  ];
  return (
    <ul className={css.keys} aria-label={keys.label} data-screen>
      {all.map(([names, what]) => (
        <li key={what}>
          {names.map((name) => (
            <Kbd key={name}>{name}</Kbd>
          ))}
          {what}
        </li>
      ))}
    </ul>
  );
}
