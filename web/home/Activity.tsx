import { Link } from '@tanstack/react-router';
import type { Schemas } from '../api/client';
import { usePeople } from '../api/people';
import { actorName } from '../parts/actors';
import { SectionError } from '../parts/ErrorPage';
import { moment, utc } from '../parts/format';
import { Avatar } from '../parts/Person';
import { to } from '../parts/to';
import { t } from '../texts';
import css from './Home.module.css';
import { useActivity, useVisitors } from './queries';

type Entry = Schemas['AuditEntry'];
const SHOWN = 8;

/** Where a record of this kind is shown. */
const pages: Record<string, (id: string) => string> = {
  risk: (id) => `/risks?open=${id}`,
  vendor: (id) => `/vendors?open=${id}`,
  task: (id) => `/tasks/${id}`,
  policy: (id) => `/policies/${id}`,
  control: (id) => `/controls?open=${id}`,
};

/** Those who act are what the entry is about. */
const THEMSELVES = new Set(['member.joined', 'access_request.created', 'access_grant.created']);

/** What people did last, in sentences. What has no sentence is in the audit log only. */
export function Activity() {
  const { data, error, refetch } = useActivity();
  const people = usePeople();
  const visitors = useVisitors();
  if (error) return <SectionError error={error} onRetry={() => void refetch()} />;
  const entries = (data?.data ?? []).filter(({ action, entityName }) => entityName && action in t.home.did).slice(0, SHOWN);
  const who = (entry: Entry): string => {
    const { actor, action, entityName, changes } = entry;
    if (THEMSELVES.has(action)) return entityName ?? t.home.visitor;
    if (actor.type === 'visitor')
      return visitors.get(String(changes.find(({ field }) => field === 'grantId')?.after)) ?? t.home.visitor;
    return actorName(actor) ?? people.name(actor.memberId) ?? t.record.system;
  };
  return (
    <ul>
      {entries.map((entry) => {
        const name = who(entry);
        const [before, after] = (t.home.did[entry.action] ?? '').split('{}');
        return (
          <li key={entry.id} className={css.entry}>
            <Avatar name={name} size={24} />
            <span className={css.sentence}>
              <b>{name}</b> {before}
              {after !== undefined && thing(entry)}
              {after}
            </span>
            <time dateTime={entry.at} title={utc(entry.at)} className="t3 num">
              {moment(entry.at)}
            </time>
          </li>
        );
      })}
    </ul>
  );
}

function thing(entry: Entry) {
  const page = pages[entry.entityType]?.(entry.entityId);
  return page ? <Link {...to(page)}>{entry.entityName}</Link> : <span>{entry.entityName}</span>;
}
