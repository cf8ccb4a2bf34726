import { Button } from '@mantine/core';
import type { Schemas } from '../api/client';
import { useList } from '../api/lists';
import { named, place } from '../api/records';
import { t } from '../texts';
import { actorName } from './actors';
import { SectionError } from './ErrorPage';
import { dated, moment, utc } from './format';
import { type Entry, Timeline } from './Timeline';

type AuditEntry = Schemas['AuditEntry'];
type Labels = Record<string, string>;
/** How a field's value reads beside the others that changed with it, if it is not its own word. */
export type Reading = (field: string, value: unknown, others?: Record<string, unknown>) => string | undefined;

type HistoryPath = '/v1/risks' | '/v1/vendors' | '/v1/tasks' | '/v1/policies' | '/v1/controls' | '/v1/context';

export function History({ path, id, labels, read }: { path: HistoryPath; id: string; labels: Labels; read: Reading }) {
  const history = useList(`${place(path)}/history` as const, {}, { path: named(path, id), page: 30 });
  if (history.error) return <SectionError error={history.error} onRetry={() => void history.refetch()} />;
  const entries = history.rows;
  if (history.data && entries.length === 0) return <p className="t3">{t.record.noHistory}</p>;
  return (
    <>
      <Timeline entries={entries.map((entry) => told(entry, labels, read))} />
      {history.hasNextPage && (
        <Button variant="subtle" onClick={history.more} loading={history.isFetchingNextPage}>
          {t.record.loadMore}
        </Button>
      )}
    </>
  );
}

/** An entry of the journal as a line of a timeline. */
export function told(entry: AuditEntry, labels: Labels, read: Reading): Entry {
  const verb = entry.action.split('.').at(-1) ?? '';
  const own: Record<string, string> = {
    created: t.record.created,
    deleted: t.record.deleted,
    accepted: t.record.accepted,
    acceptance_withdrawn: t.record.acceptanceWithdrawn,
  };
  const changes = verb === 'created' ? [] : entry.changes.filter(({ field }) => labels[field]);
  const side = (of: 'before' | 'after') => Object.fromEntries(entry.changes.map((change) => [change.field, change[of]]));
  const [before, after] = [side('before'), side('after')];
  const reads = (field: string, of: Record<string, unknown>) => {
    const value = of[field];
    return value === null || value === undefined || value === '' ? t.edits.none : (read(field, value, of) ?? plain(value));
  };
  return {
    id: entry.id,
    actor: actorName(entry.actor) ?? t.record.system,
    machine: entry.actor.type !== 'member',
    verb: own[verb] ?? (changes.length > 0 ? t.record.changed(changes.length) : (t.verbs[verb] ?? entry.action)),
    when: moment(entry.at),
    at: utc(entry.at),
    changes: changes.map((change) => ({
      field: labels[change.field] ?? change.field,
      from: reads(change.field, before),
      to: reads(change.field, after),
    })),
  };
}

function plain(value: unknown): string {
  if (typeof value === 'string') return dated(value) ?? value;
  if (typeof value === 'boolean') return value ? t.filters.yes : t.filters.no;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
