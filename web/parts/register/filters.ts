import type { Search } from '../../routes';
import { t } from '../../texts';
import { impactOf, impacts, likelihoodOf, likelihoods } from '../HeatMap';
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
    label: d.labels.assigneeId ?? t.record.owner,
    values: people.map(({ id, user }) => ({ value: id, label: user.name })),
  };
}

export function shownFilters(d: Definition, view: Search, name: (id: string) => string | undefined) {
  const shown = d.filters
    .filter(({ key }) => view[key] !== undefined)
    .map(({ key, label, values }) => ({
      key,
      field: label,
      is: values.find(({ value }) => value === view[key])?.label ?? view[key] ?? '',
    }));
  if (view.assigneeId)
    shown.push({ key: 'assigneeId', field: d.labels.assigneeId ?? '', is: name(view.assigneeId) ?? view.assigneeId });
  for (const when of ['inherent', 'residual'] as const) {
    const { likelihood, impact } = d.ratings[when];
    const [l, i] = [view[likelihood], view[impact]];
    if (l && i) {
      const is = `${likelihoodOf(likelihoods.indexOf(l as never) + 1)} × ${impactOf(impacts.indexOf(i as never) + 1)}`;
      shown.push({ key: 'cell', field: t.scales[when], is });
    }
  }
  return shown;
}
