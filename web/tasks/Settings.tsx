import { Button, MultiSelect } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '../api/client';
import { Problem, sentence, words as told } from '../api/problem';
import { useMe } from '../api/session';
import { Field, type Value } from '../parts/Field';
import { moment } from '../parts/format';
import { t } from '../texts';
import css from './Automations.module.css';
import { type Automation, change } from './automated';
import { cronOf, type Plan, planOf } from './cron';
import { events } from './events';
import { choices } from './fields';
import { failed } from './queries';
import { Schedule, scheduleWords } from './Schedule';

type Patch = Schemas['UpdateAutomation'];

/** When it runs, and what follows from how it ends. */
export function Settings({ automation }: { automation: Automation }) {
  const { can } = useMe();
  const words = t.tasks.automations;
  const mayChange = can('automation:update');
  const on = (field: keyof Patch) => (mayChange ? (next: Value) => change(automation, { [field]: next } as Patch) : undefined);
  const outcome = (field: 'statusOnPass' | 'statusOnFail') => {
    const status = automation[field];
    return (
      <Field
        name={field}
        label={words.fields[field]}
        kind="choice"
        value={status}
        choices={choices(t.tasks.status).map(({ value, label }) => ({ value, label: words.becomes(label) }))}
        optional
        onSave={on(field)}
      >
        {status ? words.becomes(t.tasks.status[status]) : words.leave}
      </Field>
    );
  };
  const text = (field: 'description' | 'evaluationCriteria' | 'timeZone', kind: 'long' | 'text', none?: string) => (
    <Field name={field} label={words.fields[field]} kind={kind} value={automation[field]} optional onSave={on(field)}>
      {automation[field] ?? none}
    </Field>
  );
  return (
    <dl className={css.settings}>
      <Field name="name" label={words.fields.name} kind="text" value={automation.name} onSave={on('name')}>
        {automation.name}
      </Field>
      <Field name="isEnabled" label={words.fields.isEnabled} kind="yes" value={automation.isEnabled} onSave={on('isEnabled')}>
        {null}
      </Field>
      <ScheduleField automation={automation} mayChange={mayChange} />
      {text('timeZone', 'text', words.organizationZone)}
      <EventsField automation={automation} mayChange={mayChange} />
      {outcome('statusOnPass')}
      {outcome('statusOnFail')}
      <Field
        name="keepEvidence"
        label={words.fields.keepEvidence}
        kind="yes"
        value={automation.keepEvidence}
        onSave={on('keepEvidence')}
      >
        {null}
      </Field>
      {text('evaluationCriteria', 'long')}
      {text('description', 'long')}
    </dl>
  );
}

type RowProps = { automation: Automation; mayChange: boolean };

function ScheduleField({ automation, mayChange }: RowProps) {
  const [plan, setPlan] = useState<Plan>();
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const words = t.tasks.automations;

  function leave() {
    setPlan(undefined);
    setProblem(undefined);
  }

  async function save() {
    if (!plan) return;
    setBusy(true);
    try {
      await change(automation, { schedule: cronOf(plan) });
      leave();
    } catch (error) {
      const own = error instanceof Problem ? error.errors.find(({ field }) => field === 'schedule') : undefined;
      setProblem(own ? sentence(own.message) : told(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <div className={css.row} data-open={plan ? true : undefined}>
      <dt>{words.fields.schedule}</dt>
      <dd>
        {plan ? (
          <div className={css.panel}>
            <Schedule plan={plan} onChange={setPlan} error={problem} />
            <div className={css.buttons}>
              <Button size="xs" variant="subtle" onClick={leave}>
                {t.actions.cancel}
              </Button>
              <Button size="xs" variant="default" onClick={() => void save()} loading={busy}>
                {t.tasks.schedule.save}
              </Button>
            </div>
          </div>
        ) : (
          <div className={css.said}>
            <span>
              {scheduleWords(automation.schedule)}
              {automation.nextRunAt && <small className="t3">{words.next(moment(automation.nextRunAt))}</small>}
            </span>
            {mayChange && (
              <Button size="xs" variant="subtle" onClick={() => setPlan(planOf(automation.schedule))}>
                {words.setSchedule}
              </Button>
            )}
          </div>
        )}
      </dd>
    </div>
  );
}

function EventsField({ automation, mayChange }: RowProps) {
  const words = t.tasks.automations;
  const [chosen, setChosen] = useState<string[]>();
  const now = chosen ?? automation.events;
  const all = events();
  const label = (event: string) => all.find(({ value }) => value === event)?.label ?? event;

  async function save() {
    if (!chosen || chosen.join() === automation.events.join()) return;
    await change(automation, { events: chosen as Patch['events'] }).catch(failed);
    setChosen(undefined);
  }

  return (
    <div className={css.row}>
      <dt>{words.fields.events}</dt>
      <dd>
        {mayChange ? (
          <MultiSelect
            aria-label={words.fields.events}
            placeholder={now.length === 0 ? words.pickEvents : undefined}
            data={all}
            value={now}
            onChange={setChosen}
            onDropdownClose={() => void save()}
            onBlur={() => void save()}
            searchable
          />
        ) : (
          <span className={css.plain}>{now.length === 0 ? words.noEvents : now.map(label).join(', ')}</span>
        )}
      </dd>
    </div>
  );
}
