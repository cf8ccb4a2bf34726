import { Link } from '@tanstack/react-router';
import type { Schemas } from '../api/client';
import { usePeople } from '../api/people';
import { SectionError } from '../parts/ErrorPage';
import { moment, utc } from '../parts/format';
import { Avatar } from '../parts/Person';
import { to } from '../parts/to';
import { t } from '../texts';
import css from './Home.module.css';
import { useActivity } from './queries';

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

/** What people did last, with names. */
export function Activity() {
  const { data, error, refetch } = useActivity();
  const people = usePeople();
  if (error) return <SectionError error={error} onRetry={() => void refetch()} />;
  const entries = (data?.data ?? []).filter((entry) => entry.entityName).slice(0, SHOWN);
  return (
    <ul>
      {entries.map((entry) => {
        const name = who(entry, people.name);
        return (
          <li key={entry.id} className={css.entry}>
            <Avatar name={name} size={24} />
            <span className={css.sentence}>
              <b>{name}</b> {verb(entry)} {thing(entry)}
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

function who({ actor }: Entry, name: (id: string | null | undefined) => string | undefined): string {
  return actor.name ?? name(actor.memberId) ?? actor.memberName ?? t.record.system;
}

function verb(entry: Entry): string {
  const word = entry.action.split('.').at(-1) ?? '';
  return t.verbs[word] ?? word.replaceAll('_', ' ');
}

function thing(entry: Entry) {
  const page = pages[entry.entityType]?.(entry.entityId);
  return page ? <Link {...to(page)}>{entry.entityName}</Link> : <span>{entry.entityName}</span>;
}
