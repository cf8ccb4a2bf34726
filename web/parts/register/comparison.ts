import type { Search } from '../../routes';
import { changes, useAll } from './data';
import type { Definition } from './definition';

const KINDS = ['changed', 'added', 'gone'] as const;

/** What changed between the day that is shown and a later one, which is today unless the address names another. */
export function useComparison(d: Definition, { asOf, until: asked, changed, open }: Search) {
  const until = asOf && asked && asked > asOf ? asked : undefined;
  const then = useAll(d, asOf, asOf !== undefined);
  const later = useAll(d, until, asOf !== undefined);
  const since = asOf && then.data && later.data ? changes(then.data, later.data) : undefined;
  return {
    until,
    since,
    /** Which of the changes are listed. */
    kind: since && KINDS.find((one) => one === changed),
    /** The rows as they were later. */
    later: asOf ? later.data : undefined,
    isPending: asOf !== undefined && (then.isPending || later.isPending),
    failed: asOf ? [then, later].find(({ error }) => error) : undefined,
    /** The day of the open record: what was added in between is shown as it was later. */
    day: open && then.data?.has(open) === false && later.data?.has(open) ? until : asOf,
  };
}
