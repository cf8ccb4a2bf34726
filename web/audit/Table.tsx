import { ActionIcon, Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconChevronDown, IconChevronRight, IconCopy, IconRobot } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { usePeople } from '../api/people';
import { utc } from '../parts/format';
import { Glyph } from '../parts/glyphs';
import { Avatar } from '../parts/Person';
import { useView } from '../parts/search';
import { to } from '../parts/to';
import { toast } from '../parts/toast';
import { language, t } from '../texts';
import css from './audit.module.css';
import type { Verdict } from './chain';
import {
  actionWord,
  actorName,
  type Entry,
  entityWord,
  placeOf,
  reading,
  recordName,
  shortHash,
  shortTime,
  told,
} from './entries';

type Props = { entries: Entry[]; verdict?: Verdict; loading: boolean; onMore: () => void };

const ROW = 42;
const PHONE = 61;

/** The log, newest first: only what is in view is in the page. Each entry unfolds into what it changed. */
export function Table({ entries, verdict, loading, onMore }: Props) {
  const { view, change } = useView();
  const table = useRef<HTMLTableElement>(null);
  const top = useTop(table);
  const narrow = useMediaQuery('(max-width: 640px)', matchMedia('(max-width: 640px)').matches) ?? false;
  const rows = useVirtualizer({
    count: entries.length,
    getScrollElement: () => document.getElementById('main'),
    estimateSize: () => (narrow ? PHONE : ROW),
    getItemKey: (index) => entries[index]?.id ?? index,
    overscan: 12,
    scrollMargin: top,
  });
  const seen = rows.getVirtualItems();
  const last = seen.at(-1);
  const isNearEnd = last !== undefined && last.index >= entries.length - 20;
  useEffect(() => {
    if (isNearEnd) onMore();
  }, [isNearEnd, onMore]);

  const before = seen[0] ? seen[0].start - top : 0;
  const after = last ? rows.getTotalSize() - (last.end - top) : 0;
  const { columns } = t.audit;
  const width = narrow ? 1 : 7;

  return (
    <div className={css.scroll} tabIndex={0} role="region" aria-label={t.nav.audit}>
      <table ref={table} className={css.table} aria-rowcount={entries.length} aria-busy={loading}>
        <caption className="hidden-visually">{t.nav.audit}</caption>
        {!narrow && (
          <thead>
            <tr>
              <th scope="col" style={{ width: 112 }} data-align="right">
                {columns.entry}
              </th>
              <th scope="col" style={{ width: 124 }}>
                {columns.time}
              </th>
              <th scope="col" style={{ width: 200 }}>
                {columns.actor}
              </th>
              <th scope="col" style={{ width: 170 }}>
                {columns.action}
              </th>
              <th scope="col">{columns.record}</th>
              <th scope="col">{columns.detail}</th>
              <th scope="col" style={{ width: 148 }}>
                {columns.hash}
              </th>
            </tr>
          </thead>
        )}
        {before > 0 && <Space columns={width} height={before} />}
        {seen.map(({ index, key }) => {
          const entry = entries[index];
          return entry === undefined ? null : (
            <tbody key={key} ref={rows.measureElement} data-index={index}>
              <Row
                entry={entry}
                narrow={narrow}
                verdict={verdict}
                isOpen={view.open === entry.id}
                onToggle={() => void change({ open: view.open === entry.id ? undefined : entry.id }, { replace: true })}
              />
            </tbody>
          );
        })}
        {loading && entries.length === 0 && <Skeletons columns={width} />}
        {after > 0 && <Space columns={width} height={after} />}
      </table>
    </div>
  );
}

/** How far below the top of the page the table begins; what stands above it changes its height. */
function useTop(table: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const page = document.getElementById('main');
    if (!page || !table.current) return;
    setTop(Math.round(table.current.getBoundingClientRect().top - page.getBoundingClientRect().top + page.scrollTop));
  });
  return top;
}

function Space({ columns, height }: { columns: number; height: number }) {
  return (
    <tbody aria-hidden="true">
      <tr>
        <td colSpan={columns} style={{ height, padding: 0, border: 0 }} />
      </tr>
    </tbody>
  );
}

function Skeletons({ columns }: { columns: number }) {
  return (
    <tbody aria-hidden="true">
      {Array.from({ length: 10 }, (_, row) => (
        <tr key={row}>
          {Array.from({ length: columns }, (_, cell) => (
            <td key={cell}>
              <div className={css.skeleton} style={{ width: `${40 + ((row * 7 + cell * 13) % 45)}%` }} />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}

type RowProps = { entry: Entry; narrow: boolean; verdict?: Verdict; isOpen: boolean; onToggle: () => void };

function Row({ entry, narrow, verdict, isOpen, onToggle }: RowProps) {
  const number = entry.sequence.toLocaleString(language);
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  const toggle = (children: ReactNode) => (
    <button type="button" className={css.toggle} aria-expanded={isOpen} aria-label={t.audit.expand(number)} onClick={onToggle}>
      <Chevron size={14} stroke={1.8} aria-hidden="true" />
      {children}
    </button>
  );
  return (
    <>
      <tr className={css.row} data-open={isOpen || undefined} data-bad={isBad(entry, verdict) || undefined}>
        {narrow ? (
          <td>
            <div className={css.phone}>
              {toggle(null)}
              <div>
                <b>{actionWord(entry.action)}</b> <Record entry={entry} />
                <p className="t3">
                  <span className="num">{shortTime(entry.at)}</span> · {actorName(entry)}
                </p>
              </div>
            </div>
          </td>
        ) : (
          <>
            <td data-align="right" className="num t2">
              {toggle(number)}
            </td>
            <td className="num t2" title={utc(entry.at)}>
              {shortTime(entry.at)}
            </td>
            <td>
              <Actor entry={entry} />
            </td>
            <td className={css.action}>{actionWord(entry.action)}</td>
            <td>
              <Record entry={entry} />
            </td>
            <td>
              <Detail entry={entry} />
            </td>
            <td>
              <Hash entry={entry} verdict={verdict} />
            </td>
          </>
        )}
      </tr>
      {isOpen && (
        <tr className={css.unfolded}>
          <td colSpan={narrow ? 1 : 7}>
            <Unfolded entry={entry} verdict={verdict} />
          </td>
        </tr>
      )}
    </>
  );
}

function Actor({ entry }: { entry: Entry }) {
  const name = actorName(entry);
  return (
    <span className={css.actor}>
      {entry.actor.type === 'member' ? (
        <Avatar name={name} />
      ) : (
        <IconRobot size={18} stroke={1.6} aria-hidden="true" className="t3" style={{ flex: 'none' }} />
      )}
      <span className="clip">{name}</span>
    </span>
  );
}

/** Leads to the record while there is one; a reference has its name beside it. */
function Record({ entry }: { entry: Entry }) {
  const place = placeOf(entry);
  const name = recordName(entry);
  return (
    <span className={css.record}>
      {place ? (
        <Link {...to(place)} className={`link ${css.link}`}>
          {name}
        </Link>
      ) : (
        <span>{name}</span>
      )}
      {entry.reference && <span className="t3 clip">{entry.entityName}</span>}
      {!entry.reference && entry.entityName && <span className="t3">{entityWord(entry.entityType)}</span>}
    </span>
  );
}

function Detail({ entry }: { entry: Entry }) {
  const people = usePeople();
  const changes = told(entry);
  const [only] = changes;
  const state = (entry.state ?? {}) as Record<string, unknown>;
  if (entry.entityType === 'operation') return <span className="mono">{entry.entityId}</span>;
  if (entry.entityType === 'export') return <>{String(state.format ?? '').toUpperCase()}</>;
  if (!entry.action.endsWith('.updated') || !only) return null;
  if (changes.length > 1) return <span className="t2">{t.audit.fields(changes.length)}</span>;
  return (
    <span className={css.change}>
      <span className="t3">{only.field}</span>
      <del>{reading(only.before, people.name)}</del>
      <span aria-label={t.record.became}>→</span>
      <span className="clip">{reading(only.after, people.name)}</span>
    </span>
  );
}

function isBad(entry: Entry, verdict: Verdict | undefined): boolean {
  return verdict?.state === 'broken' && verdict.first === entry.sequence;
}

/** A hash, and whether it was found right. */
function Hash({ entry, verdict }: { entry: Entry; verdict?: Verdict }) {
  const isRight = verdict?.state === 'intact' && entry.sequence <= verdict.end.sequence;
  return (
    <span className={css.hash}>
      {isRight && (
        <>
          <Glyph shape="check" tone="ok" size={13} />
          <span className="hidden-visually">{t.audit.verified}</span>
        </>
      )}
      {isBad(entry, verdict) && (
        <>
          <Glyph shape="cross" tone="bad" size={13} />
          <span className="hidden-visually">{t.audit.wrong}</span>
        </>
      )}
      <span className="mono t2">{shortHash(entry.hash)}</span>
    </span>
  );
}

/** Everything an entry says. */
function Unfolded({ entry, verdict }: { entry: Entry; verdict?: Verdict }) {
  const people = usePeople();
  const { change } = useView();
  const changes = told(entry);
  const place = placeOf(entry);
  const { facts } = t.audit;
  const actor =
    entry.actor.type === 'key' && entry.actor.memberName
      ? `${actorName(entry)} (${t.audit.ofKey(entry.actor.memberName)})`
      : actorName(entry);
  const rows: [string, ReactNode][] = [
    [facts.at, <span className="num">{utc(entry.at)}</span>],
    [facts.actor, actor],
    [facts.auth, entry.authType && t.audit.auth[entry.authType]],
    [facts.ip, entry.ip && <span className="mono">{entry.ip}</span>],
    [facts.record, <RecordFact entry={entry} />],
    [facts.action, <span className="mono">{entry.action}</span>],
    [facts.request, <span className="mono">{entry.requestId}</span>],
    [
      facts.hash,
      <span className={css.hash}>
        <Hash entry={entry} verdict={verdict} />
        <ActionIcon
          aria-label={t.audit.copyHash}
          onClick={() => void navigator.clipboard.writeText(entry.hash).then(() => toast(t.actions.copied))}
        >
          <IconCopy size={15} stroke={1.6} />
        </ActionIcon>
      </span>,
    ],
  ];
  return (
    <div className={css.sheet}>
      <section aria-label={t.audit.changes}>
        {changes.length === 0 ? (
          <p className="t3">{t.audit.noChanges}</p>
        ) : (
          <table className={css.changes}>
            <caption className="hidden-visually">{t.audit.changes}</caption>
            <thead>
              <tr>
                <th scope="col">{t.audit.field}</th>
                <th scope="col">{t.audit.before}</th>
                <th scope="col">{t.audit.after}</th>
              </tr>
            </thead>
            <tbody>
              {changes.map(({ field, before, after }) => (
                <tr key={field}>
                  <th scope="row" className="mono">
                    {field}
                  </th>
                  <td className={before === null ? 't3' : css.old}>{reading(before, people.name)}</td>
                  <td className={after === null ? 't3' : undefined}>{reading(after, people.name)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
      <div className={css.facts}>
        <dl>
          {rows.map(
            ([label, value]) =>
              value && (
                <div key={label}>
                  <dt>{label}</dt>
                  <dd>{value}</dd>
                </div>
              ),
          )}
        </dl>
        <div className={css.ways}>
          {place && (
            <Button component={Link} {...to(place)} size="xs" variant="default">
              {t.audit.openRecord}
            </Button>
          )}
          <Button
            size="xs"
            variant="default"
            onClick={() => void change({ entityType: entry.entityType, entityId: entry.entityId, open: undefined })}
          >
            {t.audit.onlyRecord}
          </Button>
          {entry.actor.type !== 'system' && (
            <Button size="xs" variant="default" onClick={() => void change({ actor: entry.actor.id, open: undefined })}>
              {t.audit.onlyActor}
            </Button>
          )}
        </div>
      </div>
    </div>
  );
}

function RecordFact({ entry }: { entry: Entry }) {
  return (
    <>
      {entityWord(entry.entityType)} {entry.entityName ?? ''} <span className="mono t3">{entry.entityId}</span>
    </>
  );
}
