import type { usePeople } from '../../api/people';
import { t } from '../../texts';
import { dated } from '../format';
import type { Definition } from './definition';
import { isSet } from './Rating';

/** How the value of a field reads, for histories, conflicts and tooltips. */
export function reader(d: Definition, people: ReturnType<typeof usePeople>) {
  return (field: string, value: unknown, others: Record<string, unknown> = {}): string => {
    if (!isSet(d, others, field)) return t.scales.notSet;
    if (value === null || value === undefined || value === '') return t.edits.none;
    if (field === 'assigneeId' || field === 'acceptedById') return people.name(String(value)) ?? String(value);
    if (field === 'status') return d.statuses[String(value)]?.label ?? String(value);
    if (typeof value === 'boolean') return value ? t.filters.yes : t.filters.no;
    const choices = d.fields.find((one) => one.name === field)?.choices;
    const word = choices?.[String(value)];
    if (word) return word;
    return dated(value) ?? String(value);
  };
}
