import type { Impact, Likelihood } from '../../api/criteria';
import type { Search } from '../../routes';
import { t } from '../../texts';
import type { Chip } from '../list/ListPage';
import type { Definition } from './definition';

/** Likelihood and impact of one cell read as one filter. */
export const noCell = (d: Definition) =>
  Object.fromEntries(
    Object.values(d.ratings).flatMap(({ likelihood, impact }) => [
      [likelihood, undefined],
      [impact, undefined],
    ]),
  );

export function ownerFilter(d: Definition, people: { id: string; user: { name: string } }[]) {
  return {
    key: 'assigneeId',
    isMany: true,
    label: d.labels.assigneeId ?? t.record.owner,
    values: people.map(({ id, user }) => ({ value: id, label: user.name })),
  };
}

/** The cell of a heat map that narrows the list down. */
export function cells(d: Definition, view: Search): Chip[] {
  return (['inherent', 'residual'] as const).flatMap((when) => {
    const { likelihood, impact } = d.ratings[when];
    const [l, i] = [view[likelihood], view[impact]];
    if (!l || !i) return [];
    const is = `${d.criteria.likelihood[l as Likelihood] ?? l} × ${d.criteria.impact[i as Impact] ?? i}`;
    return [{ key: 'cell', field: t.scales[when], is, clears: noCell(d) }];
  });
}
