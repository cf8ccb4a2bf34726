import { Button } from '@mantine/core';
import { IconArrowBackUp, IconBell, IconLayersSubtract, IconRoute } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import { usePeople } from '../api/people';
import { words } from '../api/problem';
import { isFirst } from '../api/query';
import { useMe } from '../api/session';
import { useConfirm } from '../parts/confirm';
import { EmptyState } from '../parts/EmptyState';
import { MissingPage, SectionError } from '../parts/ErrorPage';
import { ExportMenu } from '../parts/ExportMenu';
import { FilterBar, type FilterField } from '../parts/FilterBar';
import { day, daysUntil, today as now } from '../parts/format';
import { Glyph } from '../parts/glyphs';
import { Table } from '../parts/list/Table';
import { PageHeader } from '../parts/PageHeader';
import { Person } from '../parts/Person';
import { usePrinting } from '../parts/print';
import { useView } from '../parts/search';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { BurnUp } from './BurnUp';
import { columns, isMovable, phone } from './columns';
import { useDrag, Weeks } from './drag';
import css from './plan.module.css';
import { type Item, move, type Programme, remind, undo, useFrameworks, useProgramme } from './queries';
import { dateIn, forecastOf, itemsOf, loadsOf, neighbour, paperRowsOf, rowsOf, type Week, weeksOf } from './rows';

export function Plan() {
  const { can } = useMe();
  return can('programme:read') ? <Page /> : <MissingPage />;
}

function Page() {
  const programme = useProgramme();
  const frameworks = useFrameworks();
  const { data, error, refetch } = programme;
  if (error)
    return (
      <>
        <PageHeader title={t.plan.title} />
        <SectionError error={error} onRetry={() => void refetch()} />
      </>
    );
  // The names of frameworks are part of the header, which must not grow once the rest is shown.
  if (data === undefined || isFirst(frameworks))
    return (
      <div aria-busy={isFirst(programme) || isFirst(frameworks)}>
        <PageHeader title={t.plan.title} facts={[]} />
      </div>
    );
  return data ? <Running programme={data} /> : <Empty />;
}

function Empty() {
  const { can } = useMe();
  const navigate = useNavigate();
  const { empty } = t.plan;
  const ways = [
    {
      icon: <IconRoute size={18} stroke={1.6} />,
      label: t.plan.setUp,
      hint: empty.hint,
      needs: 'programme:update',
      onPick: () => void navigate({ to: '/plan/set-up' }),
    },
    {
      icon: <IconLayersSubtract size={18} stroke={1.6} />,
      label: empty.frameworks,
      hint: empty.frameworksHint,
      needs: 'framework:read',
      onPick: () => void navigate({ to: '/frameworks' }),
    },
  ];
  return (
    <>
      <PageHeader title={t.plan.title} />
      <EmptyState title={empty.title} lead={empty.lead} ways={ways.filter(({ needs }) => can(needs))} />
    </>
  );
}

function Running({ programme }: { programme: Programme }) {
  const { view, change: go } = useView();
  const { can, membership } = useMe();
  const navigate = useNavigate();
  const people = usePeople();
  const { ask, dialog } = useConfirm();
  const frameworks = useFrameworks();
  const today = now();
  const { counts, auditDate, canUndoUntil, forecast, lastStartId } = programme;
  const all = useMemo(() => itemsOf(programme), [programme]);
  const isPrinting = usePrinting();
  const { owner, state, kind } = view;
  const rows = useMemo(() => {
    const fits = (item: Item) =>
      (!owner || (item.assigneeId ?? NOBODY) === owner) && (!state || item.state === state) && (!kind || item.kind === kind);
    return (isPrinting ? paperRowsOf : rowsOf)(programme, today, fits);
  }, [programme, today, isPrinting, owner, state, kind]);
  const mayUpdate = can('programme:update');
  const mayMove = { task: can('task:update'), policy: can('policy:update') };
  const shown = useMemo(
    () => columns(people.name, { task: mayMove.task, policy: mayMove.policy }),
    [people.name, mayMove.task, mayMove.policy],
  );
  const weeks = useMemo(() => weeksOf(programme, today), [programme, today]);
  const moveTo = (item: Item, week: Week | undefined) => {
    const due = week && dateIn(week, item.dueDate, today);
    if (!due || due === item.dueDate) return;
    void move(item, due, t.plan.list.movedTo(item.reference, week.number, day(due)));
  };
  const moved = useRef<string>(undefined);
  const { frame, drag } = useDrag({
    items: rows,
    weeks,
    isMovable: (item) => isMovable(item, mayMove),
    onDrop: (item, week) => moveTo(item, week),
    onKey: (item, by) => {
      moved.current = item.id;
      moveTo(item, neighbour(weeks, item, by));
    },
  });
  useEffect(() => {
    const forget = () => {
      moved.current = undefined;
    };
    addEventListener('pointerdown', forget);
    return () => removeEventListener('pointerdown', forget);
  }, []);
  // A row that was moved by the keyboard is drawn in another place, and keeps the focus there.
  useLayoutEffect(() => {
    const id = moved.current;
    if (id === undefined || document.activeElement !== document.body) return;
    const row = frame.current?.querySelector<HTMLElement>(`[data-open="${CSS.escape(id)}"]`);
    row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: 'nearest' });
  }, [programme, frame]);
  const names = (frameworks.data?.data ?? []).filter(({ id }) => programme.frameworkIds.includes(id)).map(({ name }) => name);
  const done = t.plan.facts.done(counts.done, all.length);
  const isUndoable = mayUpdate && lastStartId !== null && canUndoUntil !== null && canUndoUntil > new Date().toISOString();
  const hrefOf = ({ kind, id }: Item) => `/${kind === 'task' ? 'tasks' : 'policies'}/${id}`;
  const fields = filters(programme, people.name);
  const chips = fields
    .filter(({ key }) => view[key] !== undefined)
    .map(({ key, label, values }) => ({
      key,
      field: label,
      is: values.find(({ value }) => value === view[key])?.label ?? view[key] ?? '',
    }));

  return (
    <>
      <PageHeader
        title={t.plan.title}
        facts={[
          ...(names.length > 0 ? [<span key="frameworks">{names.join(', ')}</span>] : []),
          auditDate ? (
            <span key="audit">
              <b>{t.plan.facts.audit(day(auditDate))}</b>, {t.plan.facts.daysLeft(daysUntil(auditDate))}
            </span>
          ) : (
            <span key="audit">{t.plan.facts.noAudit}</span>
          ),
          <span key="done">
            <b>{done.count}</b> {done.word}
          </span>,
          ...(counts.late > 0
            ? [
                <span key="late" className={css.late}>
                  {t.plan.facts.late(counts.late)}
                </span>,
              ]
            : []),
          ...(counts.blocked > 0 ? [<span key="blocked">{t.plan.facts.blocked(counts.blocked)}</span>] : []),
        ]}
        actions={
          <>
            <ExportMenu path="/v1/programme/export" />
            {mayUpdate && (
              <>
                {isUndoable && (
                  <Button
                    variant="default"
                    leftSection={<IconArrowBackUp size={16} stroke={1.6} />}
                    onClick={() =>
                      ask({
                        title: t.plan.undoAsk,
                        text: t.plan.undoText,
                        verb: t.plan.undo,
                        act: async () => {
                          const undone = await undo(lastStartId);
                          toast(t.plan.undone(undone?.deleted ?? 0));
                        },
                      })
                    }
                  >
                    {t.plan.undo}
                  </Button>
                )}
                {counts.late > 0 && (
                  <Button
                    variant="default"
                    leftSection={<IconBell size={16} stroke={1.6} />}
                    onClick={() =>
                      void remind()
                        .then(({ members }) => toast(t.plan.reminded(members)))
                        .catch((error) => toast(words(error), { bad: true }))
                    }
                  >
                    {t.plan.remind}
                  </Button>
                )}
                <Button data-primary onClick={() => void navigate({ to: '/plan/set-up', search: { step: 'frameworks' } })}>
                  {t.plan.adjust}
                </Button>
              </>
            )}
          </>
        }
      />
      <p className={css.paper}>
        {[t.plan.printed(membership?.name ?? '', day(today)), ...chips.map(({ field, is }) => `${field}: ${is}`)].join(' · ')}
      </p>
      <div className={css.overview}>
        <section aria-label={t.plan.chart.title}>
          <Forecast programme={programme} today={today} />
          <BurnUp programme={programme} today={today} />
          <p className="t3">
            {t.plan.forecast.pace(forecast.completedLately)} · {t.plan.forecast.left(forecast.remaining)}
          </p>
        </section>
        <ByOwner items={all} owner={view.owner} onOwner={(owner) => void go({ owner })} />
      </div>
      <FilterBar
        filters={chips}
        fields={fields}
        now={view}
        onSet={(key, value) => void go({ [key]: value })}
        onRemove={(key) => void go({ [key]: undefined })}
        onClear={() => void go({ owner: undefined, state: undefined, kind: undefined })}
        count={t.filters.count(rows.length, all.length)}
      />
      <div ref={frame}>
        <Table
          caption={t.plan.list.caption}
          rows={rows}
          columns={shown}
          rowKey={({ id }) => id}
          rowName={({ reference }) => reference}
          href={hrefOf}
          onOpen={(row) => void navigate({ to: hrefOf(row) as string })}
          group={({ group }) => group}
          over={drag?.over?.startsOn}
          phone={(row) => phone(row, people.name)}
        />
      </div>
      {drag && <Weeks drag={drag} weeks={weeks} />}
      {rows.length === 0 && <p className={css.none}>{t.plan.list.nothing}</p>}
      {dialog}
    </>
  );
}

/** The value of a filter for items without an owner. */
const NOBODY = 'none';

function filters(programme: Programme, name: (id: string) => string | undefined): FilterField[] {
  const { list } = t.plan;
  const values = (words: Record<string, string>) => Object.entries(words).map(([value, label]) => ({ value, label }));
  const owners = loadsOf(itemsOf(programme)).map(({ id }) => ({
    value: id ?? NOBODY,
    label: id ? (name(id) ?? id) : t.record.noOwner,
  }));
  return [
    { key: 'owner', label: list.owner, values: owners },
    { key: 'state', label: list.state, values: values(list.states) },
    { key: 'kind', label: list.kind, values: values(list.kinds) },
  ];
}

function Forecast({ programme, today }: { programme: Programme; today: string }) {
  const { text, isLate } = forecastOf(programme, today);
  const isKnown = programme.forecast.finishesOn !== null || programme.forecast.remaining === 0;
  return (
    <h2 className={css.forecast}>
      <Glyph shape={isLate ? 'alert' : isKnown ? 'check' : 'clock'} tone={isLate ? 'bad' : isKnown ? 'ok' : 'mute'} />
      {text}
    </h2>
  );
}

type ByOwnerProps = { items: Item[]; owner?: string; onOwner: (next: string | undefined) => void };

/** How far everybody is; choosing a person filters the list. */
function ByOwner({ items, owner, onOwner }: ByOwnerProps) {
  const people = usePeople();
  const words = t.plan.owners;
  return (
    <section>
      <div className={css.head}>
        <h2>{words.title}</h2>
        <span className="t2">{words.hint}</span>
      </div>
      <ul className={css.loads}>
        {loadsOf(items).map(({ id, done, late, all }) => {
          const name = id ? people.name(id) : undefined;
          const isChosen = owner === (id ?? NOBODY);
          return (
            <li key={id ?? NOBODY}>
              <button
                type="button"
                className={`plain ${css.load}`}
                aria-pressed={isChosen}
                aria-label={words.line(name ?? t.record.noOwner, done, all, late)}
                onClick={() => onOwner(isChosen ? undefined : (id ?? NOBODY))}
              >
                <span className={css.between}>
                  <Person name={name} />
                  <span className="num">
                    {late > 0 && <span className={css.late}>{t.plan.facts.late(late)} </span>}
                    {words.of(done, all)}
                  </span>
                </span>
                <span className={css.meter}>
                  <i style={{ width: `${(100 * done) / all}%` }} />
                  <i data-late style={{ width: `${(100 * late) / all}%` }} />
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
