import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '../api/client';
import { fetchAll } from '../api/lists';
import { type FilterField, valuesOf } from '../parts/FilterBar';
import { roleChoices, rolesOf, roleWords } from '../parts/roles';
import type { Search } from '../routes';
import { language, t } from '../texts';
import { values } from './members';

/** An active member, with everything that lets them in. */
export type Access = Schemas['AccessReview'] & { id: string };

export const PATH = '/v1/organization/access-review';
/** The days after which an account that was not signed in to is worth a question. */
const DORMANT_DAYS = 90;
const DAY_MS = 86_400_000;

/** All who can get in: the counts and the order are of everyone, so all pages are fetched. */
export const useAccess = () =>
  useQuery({
    queryKey: ['rows', PATH],
    queryFn: async (): Promise<Access[]> => {
      const all = await fetchAll(PATH, {}, ({ memberId }) => memberId);
      return [...all].map(([id, row]) => ({ ...row, id }));
    },
  });

export const isDormant = ({ lastLogin }: Access, now = Date.now()) =>
  lastLogin === null || now - Date.parse(lastLogin) > DORMANT_DAYS * DAY_MS;

export const waysOf = ({ methods }: Access) => methods.map((way) => t.people.review.methods[way] ?? way).join(' · ');

/** The values that the filters of the list compare. */
const VALUES: Record<string, (row: Access) => string[]> = {
  role: ({ role }) => rolesOf(role),
  method: ({ methods }) => methods,
  hasSecondFactor: ({ hasSecondFactor }) => [String(hasSecondFactor)],
  lastLogin: (row) => [isDormant(row) ? 'dormant' : 'recent'],
  apiKeys: ({ apiKeys }) => [String(apiKeys > 0)],
  mark: ({ isExempt, isManaged }) => [...(isExempt ? ['exempt'] : []), ...(isManaged ? ['managed'] : [])],
};

/** What a review looks at first, by the filter that shows it. */
export const FINDINGS = {
  noFactor: { hasSecondFactor: 'false' },
  dormant: { lastLogin: 'dormant' },
  keys: { apiKeys: 'true' },
} satisfies Record<string, Search>;

export function matches(row: Access, view: Search): boolean {
  const text = `${row.name} ${row.email}`.toLowerCase();
  const isFit = ([key, of]: [string, (row: Access) => string[]]) => {
    const wanted = valuesOf(view[key]);
    return wanted.length === 0 || of(row).some((value) => wanted.includes(value));
  };
  return text.includes((view.q ?? '').toLowerCase()) && Object.entries(VALUES).every(isFit);
}

export function filters(rows: Access[]): FilterField[] {
  const { fields, factor, review } = t.people;
  const { columns, methods, lastLogins, hasKeys, mark, marks } = review;
  return [
    { key: 'role', isMany: true, label: fields.role, values: roleChoices(rows) },
    { key: 'method', isMany: true, label: columns.methods, values: values(methods) },
    { key: 'hasSecondFactor', label: fields.hasSecondFactor, values: values(factor) },
    { key: 'lastLogin', label: fields.lastLogin, values: values(lastLogins) },
    { key: 'apiKeys', label: columns.apiKeys, values: values(hasKeys) },
    { key: 'mark', isMany: true, label: mark, values: values(marks) },
  ];
}

/** What the list can be sorted by; at first, those with the most findings lead. */
const ORDERS: Record<string, (row: Access) => string | number> = {
  findings: (row) => Object.values(FINDINGS).filter((finding) => matches(row, finding)).length,
  name: ({ name }) => name,
  role: ({ role }) => roleWords(role),
  methods: waysOf,
  hasSecondFactor: ({ hasSecondFactor }) => Number(hasSecondFactor),
  apiKeys: ({ apiKeys }) => apiKeys,
  lastLogin: ({ lastLogin }) => lastLogin ?? '',
};
export const FIRST_ORDER = { key: 'findings', dir: 'desc' } as const;

const compared = (one: string | number, other: string | number) =>
  typeof one === 'number' && typeof other === 'number' ? one - other : String(one).localeCompare(String(other), language);

/** The rows that match, in the order of the address. */
export function shownOf(rows: Access[], view: Search): Access[] {
  const of = ORDERS[view.sort ?? FIRST_ORDER.key] ?? (() => 0);
  const sign = (view.order ?? FIRST_ORDER.dir) === 'desc' ? -1 : 1;
  return rows
    .filter((row) => matches(row, view))
    .sort((one, other) => sign * compared(of(one), of(other)) || compared(one.name, other.name));
}
