import { useQueries, useQuery } from '@tanstack/react-query';
import { fetchAll, search } from '../../api/lists';
import { call } from '../../api/paths';
import { words } from '../../api/problem';
import { queries, refetch } from '../../api/query';
import { fetchRecord, type Versioned } from '../../api/records';
import { t } from '../../texts';
import { toast } from '../toast';
import { type Control, idsOf, type Kind, type Linked } from './kinds';
import { type Asked, useRequirements } from './requirements';

const PATHS = {
  policy: '/v1/policies',
  task: '/v1/tasks',
  risk: '/v1/risks',
  vendor: '/v1/vendors',
  control: '/v1/controls',
} as const;
type RecordKind = keyof typeof PATHS;

const hrefs: Record<RecordKind, (id: string) => string> = {
  policy: (id) => `/policies/${id}`,
  task: (id) => `/tasks/${id}`,
  risk: (id) => `/risks?open=${id}`,
  vendor: (id) => `/vendors?open=${id}`,
  control: (id) => `/controls?open=${id}`,
};

type Named = { id: string; reference: string; name?: string; title?: string };
const linkedOf = (kind: RecordKind, { id, reference, name, title }: Named): Linked => ({
  id,
  reference,
  name: name ?? title ?? '',
  href: hrefs[kind](id),
});
const requirement = ({ id, code, title, framework, alias }: Asked): Linked => ({
  id,
  reference: code,
  name: title,
  group: framework,
  href: `/frameworks/${alias}?open=${id}`,
});

export const controlOf = ({ id, reference, name, readiness }: Control, asOf?: string): Linked => ({
  id,
  reference,
  name,
  readiness,
  href: `${hrefs.control(id)}${asOf ? `&asOf=${asOf}` : ''}`,
});

/** The records that a control is linked to of one kind, by their ids. Those that cannot be seen have only their id. */
export function useLinked(kind: Kind, ids: string[], mayRead: boolean): Linked[] {
  const { byId } = useRequirements(kind === 'requirement' && mayRead && ids.length > 0);
  const records = useQueries({
    queries: (kind === 'requirement' || !mayRead ? [] : ids).map((id) => ({
      queryKey: ['record', PATHS[kind as RecordKind], id, null],
      queryFn: () => fetchRecord(PATHS[kind as RecordKind], id),
      staleTime: 60_000,
    })),
  });
  return ids.map((id, at) => {
    if (!mayRead) return { id, reference: '', name: id };
    const asked = byId.get(id);
    if (kind === 'requirement') return asked ? requirement(asked) : { id, reference: '…', name: '' };
    const record = records[at]?.data?.data as Named | undefined;
    return record ? linkedOf(kind, record) : { id, reference: '', name: records[at]?.error ? id : '…' };
  });
}

const FOUND = 30;

/** What can be linked, by a few letters of its name or its reference. */
export function useFound(kind: Kind | 'control', letters: string, enabled: boolean): Linked[] {
  const { all } = useRequirements(enabled && kind === 'requirement');
  const wanted = letters.trim();
  const path = kind === 'requirement' ? '' : PATHS[kind];
  const { data } = useQuery({
    queryKey: ['found', path, wanted],
    queryFn: async (): Promise<Linked[]> => {
      if (kind === 'requirement') return [];
      const found = (await search(PATHS[kind], wanted, FOUND)) as Named[];
      return found.map((one) => linkedOf(kind, one));
    },
    enabled: enabled && kind !== 'requirement',
    // What was found stays until the next is, but not among records of another kind.
    placeholderData: (last: Linked[] | undefined, of?: { queryKey: readonly unknown[] }) =>
      of?.queryKey[1] === path ? last : undefined,
  });
  if (kind !== 'requirement') return data ?? [];
  const lower = wanted.toLowerCase();
  return all
    .filter(({ code, title, framework }) => `${code} ${title} ${framework}`.toLowerCase().includes(lower))
    .slice(0, FOUND * 2)
    .map(requirement);
}

const controlsKey = (kind: Kind, id: string, asOf?: string) => ['linked', '/v1/controls', kind, id, asOf ?? null];

/** The controls that are linked to a record. */
export function useControlsOf(kind: Kind, id: string, asOf?: string) {
  return useQuery({
    queryKey: controlsKey(kind, id, asOf),
    queryFn: async (): Promise<Linked[]> => {
      const query = { [`${kind}Id`]: id, sort: 'createdAt', order: 'asc', ...(asOf && { asOf }) };
      return [...(await fetchAll('/v1/controls', query)).values()].map((one) => controlOf(one, asOf));
    },
  });
}

export type Verb = 'link' | 'unlink';
/** A control and a record of one kind. */
export type Pair = { control: Linked; kind: Kind; record: Linked };

/** The ends as they are shown once the link is changed. Returns what restores them. */
function change({ control, kind, record }: Pair, verb: Verb) {
  const [own, other] = [['record', '/v1/controls', control.id, null], controlsKey(kind, record.id)];
  const [was, were] = [queries.getQueryData<Versioned<Control>>(own), queries.getQueryData<Linked[]>(other)];
  const field = idsOf[kind];
  if (was) {
    const others = was.data[field].filter((id) => id !== record.id);
    const ids = verb === 'link' ? [...others, record.id] : others;
    queries.setQueryData(own, { ...was, data: { ...was.data, [field]: ids } });
  }
  if (were) {
    const others = were.filter(({ id }) => id !== control.id);
    queries.setQueryData(other, verb === 'link' ? [...others, control] : others);
  }
  return () => {
    if (was) queries.setQueryData(own, was);
    if (were) queries.setQueryData(other, were);
  };
}

/** Everything that is computed from the links of controls. */
export const CHANGED = ['/v1/controls', '/v1/frameworks', '/v1/soa', '/v1/programme'];

/** Links a control and a record or unlinks them, shown at once. `name` is the end that the reader chose. */
export async function setLink(pair: Pair, verb: Verb, name: string, isUndo = false): Promise<void> {
  const restore = change(pair, verb);
  const { control, kind, record } = pair;
  try {
    const body = { [idsOf[kind]]: [record.id] };
    const saved = await call('post', `/v1/controls/{id}/${verb}`, { path: { id: control.id }, body });
    if (queries.getQueryData(['record', '/v1/controls', control.id, null]))
      queries.setQueryData(['record', '/v1/controls', control.id, null], saved);
    await refetch(...CHANGED);
    if (isUndo) return;
    const { linked, removed } = t.controls.links;
    toast(verb === 'link' ? linked(name) : removed(name), {
      undo: () => setLink(pair, verb === 'link' ? 'unlink' : 'link', name, true),
    });
  } catch (error) {
    restore();
    toast(words(error), { bad: true });
  }
}
