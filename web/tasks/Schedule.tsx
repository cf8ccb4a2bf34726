import { Chip, Select, TextInput } from '@mantine/core';
import { NumberField } from '../parts/NumberField';
import { language, t } from '../texts';
import css from './Automations.module.css';
import { cronOf, inWords, type Plan, weekdayName } from './cron';

const MONDAY_FIRST = [1, 2, 3, 4, 5, 6, 0];
const LAST = 'L';
const MINUTES = { min: 0, max: 59 };

/** A plan to begin with, when the kind is changed. */
function begun(kind: string | null, old: Plan): Plan {
  const time = 'time' in old ? old.time : '06:00';
  const plans: Record<Plan['kind'], Plan> = {
    never: { kind: 'never' },
    hourly: { kind: 'hourly', minute: 0 },
    daily: { kind: 'daily', time },
    weekly: { kind: 'weekly', time, days: [1] },
    monthly: { kind: 'monthly', time, day: 1 },
    custom: { kind: 'custom', cron: cronOf(old) ?? '0 6 * * 1' },
  };
  return plans[kind as Plan['kind']] ?? plans.never;
}

export const scheduleWords = (cron: string | null) => inWords(cron, t.tasks.cron, language);

type Props = { plan: Plan; onChange: (next: Plan) => void; error?: string };

/** When an automation runs by itself: the usual rhythms, or cron. Says below what it comes to. */
export function Schedule({ plan, onChange, error }: Props) {
  const words = t.tasks.schedule;
  const days = Array.from({ length: 31 }, (_, at) => ({ value: String(at + 1), label: String(at + 1) }));
  return (
    <fieldset className={css.schedule}>
      <legend className="hidden-visually">{words.label}</legend>
      <div className={css.rhythm}>
        <Select
          label={words.label}
          allowDeselect={false}
          data={Object.entries(words.kind).map(([value, label]) => ({ value, label }))}
          value={plan.kind}
          onChange={(kind) => onChange(begun(kind, plan))}
        />
        {plan.kind === 'hourly' && (
          <NumberField
            label={words.minute}
            limits={MINUTES}
            value={String(plan.minute)}
            onChange={(next) => onChange({ ...plan, minute: Math.min(MINUTES.max, Math.max(MINUTES.min, Number(next))) })}
          />
        )}
        {plan.kind === 'monthly' && (
          <Select
            label={words.day}
            allowDeselect={false}
            data={[...days, { value: LAST, label: words.lastDay }]}
            value={String(plan.day)}
            onChange={(day) => onChange({ ...plan, day: day === LAST ? LAST : Number(day) })}
          />
        )}
        {'time' in plan && (
          <TextInput
            type="time"
            label={words.time}
            value={plan.time}
            onChange={(event) => event.currentTarget.value && onChange({ ...plan, time: event.currentTarget.value })}
          />
        )}
        {plan.kind === 'custom' && (
          <TextInput
            label={words.cron}
            description={words.cronHelp}
            error={error}
            value={plan.cron}
            onChange={(event) => onChange({ kind: 'custom', cron: event.currentTarget.value })}
          />
        )}
      </div>
      {plan.kind === 'weekly' && (
        <Chip.Group
          multiple
          value={plan.days.map(String)}
          onChange={(next: string[]) => next.length > 0 && onChange({ ...plan, days: next.map(Number) })}
        >
          <div className={css.days} role="group" aria-label={words.days}>
            {MONDAY_FIRST.map((day) => (
              <Chip key={day} value={String(day)} size="xs" variant="outline">
                {weekdayName(day, language, 'short')}
              </Chip>
            ))}
          </div>
        </Chip.Group>
      )}
      {error && plan.kind !== 'custom' && <p className={css.error}>{error}</p>}
      {plan.kind !== 'never' && (
        <p className={css.help}>
          <b>{scheduleWords(cronOf(plan))}</b>. {words.zone}
        </p>
      )}
    </fieldset>
  );
}
