import { ActionIcon, Button } from '@mantine/core';
import { IconChevronDown, IconChevronRight, IconCopy, IconRobot } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { usePeople } from '../api/people';
import { utc } from '../parts/format';
import { Glyph } from '../parts/glyphs';
import type { Column, PhoneLine } from '../parts/list/Table';
import { Avatar } from '../parts/Person';
import { useView } from '../parts/search';
import { to } from '../parts/to';
import { toast } from '../parts/toast';
import { language, t } from '../texts';
import css from './audit.module.css';
import type { Verdict } from './chain';
import {
  actionWord,
  actorWord,
  type Entry,
  entityWord,
  fieldWord,
  nameOf,
  placeOf,
  reading,
  recordName,
  shortHash,
  shortTime,
  told,
} from './entries';

type Names = (id: string | null | undefined) => string | undefined;

const numberOf = (entry: Entry) => entry.sequence.toLocaleString(language);

/** The log, newest first. Each entry unfolds into what it changed. */
export function columns(verdict: Verdict | undefined, name: Names, open: string | undefined): Column<Entry>[] {
  const { columns } = t.audit;
  return [
    {
      key: 'entry',
      header: columns.entry,
      width: 96,
      opens: true,
      sort: 'sequence',
      isHighFirst: true,
      label: (entry) => t.audit.expand(numberOf(entry)),
      render: (entry) => (
        <span className={`num t2 ${css.toggle}`}>
          {open === entry.id ? <IconChevronDown size={14} stroke={1.8} /> : <IconChevronRight size={14} stroke={1.8} />}
          {numberOf(entry)}
        </span>
      ),
    },
    {
      key: 'time',
      priority: 2,
      header: columns.time,
      width: 116,
      sort: 'sequence',
      isHighFirst: true,
      render: (entry) => (
        <span className="num t2" title={utc(entry.at)}>
          {shortTime(entry.at)}
        </span>
      ),
    },
    { key: 'actor', priority: 3, header: columns.actor, width: 150, render: (entry) => <Actor entry={entry} /> },
    {
      key: 'action',
      priority: 1,
      header: columns.action,
      width: 120,
      render: (entry) => <span className={css.action}>{actionWord(entry.action)}</span>,
    },
    { key: 'record', header: columns.record, render: (entry) => <Record entry={entry} /> },
    { key: 'detail', priority: 5, header: columns.detail, width: 280, render: (entry) => <Detail entry={entry} name={name} /> },
    { key: 'hash', priority: 4, header: columns.hash, width: 130, render: (entry) => <Hash entry={entry} verdict={verdict} /> },
  ];
}

export const phone = (entry: Entry): PhoneLine => ({
  title: `${actionWord(entry.action)} ${recordName(entry)}`,
  facts: (
    <>
      <span className="num">{shortTime(entry.at)}</span> · {actorWord(entry)}
    </>
  ),
});

function Actor({ entry }: { entry: Entry }) {
  const name = actorWord(entry);
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
      {!entry.reference && nameOf(entry) && <span className="t3">{entityWord(entry.entityType)}</span>}
    </span>
  );
}

function Detail({ entry, name }: { entry: Entry; name: Names }) {
  const changes = told(entry);
  const [only] = changes;
  const state = (entry.state ?? {}) as Record<string, unknown>;
  if (entry.entityType === 'operation') return <span className="mono">{entry.entityId}</span>;
  if (entry.entityType === 'export') return <>{String(state.format ?? '').toUpperCase()}</>;
  if (!/\.(updated|role_changed|email_changed)$/.test(entry.action) || !only) return null;
  if (changes.length > 1) return <span className="t2">{t.audit.fields(changes.length)}</span>;
  return (
    <span className={css.change}>
      <span className="t3">{fieldWord(entry.entityType, only.field)}</span>
      <del>{reading(only.before, name)}</del>
      <span aria-label={t.record.became}>→</span>
      <span className="clip">{reading(only.after, name)}</span>
    </span>
  );
}

export function isBad(entry: Entry, verdict: Verdict | undefined): boolean {
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
export function Unfolded({ entry, verdict }: { entry: Entry; verdict?: Verdict }) {
  const people = usePeople();
  const { change } = useView();
  const changes = told(entry);
  const place = placeOf(entry);
  const { facts } = t.audit;
  const actor =
    entry.actor.type === 'key' && entry.actor.memberName
      ? `${actorWord(entry)} (${t.audit.ofKey(entry.actor.memberName)})`
      : actorWord(entry);
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
                  <th scope="row" title={field}>
                    {fieldWord(entry.entityType, field)}
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
      {entityWord(entry.entityType)} {nameOf(entry) ?? ''} <span className="mono t3">{entry.entityId}</span>
    </>
  );
}
