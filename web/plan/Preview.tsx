import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { usePeople } from '../api/people';
import { useMe } from '../api/session';
import { SectionError } from '../parts/ErrorPage';
import { day, daysBetween, today } from '../parts/format';
import { Glyph } from '../parts/glyphs';
import { Person } from '../parts/Person';
import { language, t } from '../texts';
import { LoadChart } from './LoadChart';
import css from './plan.module.css';
import { type ProgrammePlan, useControlKeys, usePreview, useRequirements } from './queries';
import type { StepProps } from './SetUp';
import { bodyOf, ROLES, type Role, type Settings, type Step } from './settings';

type Props = StepProps;

/** What the start would create, with owners and dates. Nothing exists until then. */
export function Preview(props: Props) {
  const { settings, set, questions } = props;
  const { data: plan, error, isPlaceholderData, refetch } = usePreview(bodyOf(settings, questions));
  return (
    <>
      <AuditDate value={settings.auditDate} plan={plan} onChange={(auditDate) => set({ auditDate })} />
      {error && <SectionError error={error} onRetry={() => void refetch()} />}
      {plan && !error && (
        <div aria-busy={isPlaceholderData}>
          <Counts plan={plan} />
          <div className={css.columns}>
            <div>
              <Load plan={plan} />
              <Coverage {...props} plan={plan} />
              <Decisions {...props} plan={plan} />
              {plan.leftOut.length > 0 && <LeftOut {...props} plan={plan} />}
            </div>
            <Owners plan={plan} settings={settings} go={props.go} />
          </div>
          <p className={css.note}>{created(plan) > 0 ? t.plan.preview.startText(created(plan)) : t.plan.preview.nothing}</p>
        </div>
      )}
    </>
  );
}

const created = ({ counts }: ProgrammePlan) => counts.controls.created + counts.policies.created + counts.tasks.created;

/** Half a date, or one that has passed, goes no further than the field. */
function AuditDate({
  value,
  plan,
  onChange,
}: {
  value: string | null;
  plan?: ProgrammePlan;
  onChange: (next: string | null) => void;
}) {
  const words = t.plan.preview;
  const [text, setText] = useState(value ?? '');
  return (
    <TextInput
      className={css.audit}
      label={`${words.auditDate} ${t.forms.optional}`}
      description={
        plan &&
        (value ? words.auditHelp(Math.ceil(daysBetween(plan.startsOn, plan.endsOn) / 7)) : words.auditNone(day(plan.endsOn)))
      }
      type="date"
      lang={language}
      min={today()}
      value={text}
      onChange={({ currentTarget: { value: next, validity } }) => {
        setText(next);
        if (validity.valid) onChange(next || null);
      }}
      onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
    />
  );
}

function Counts({ plan: { counts, coverage } }: { plan: ProgrammePlan }) {
  const words = t.plan.preview;
  const met = coverage.reduce((sum, one) => sum + one.met, 0);
  const leftOut = coverage.reduce((sum, one) => sum + one.leftOut, 0);
  const all = [
    ...(['controls', 'policies', 'tasks'] as const).map((kind) => ({
      count: counts[kind].created + counts[kind].reused,
      label: words[kind],
      hint: words.created(counts[kind].created, counts[kind].reused),
    })),
    { count: met, label: words.requirements, hint: words.leftOutCount(leftOut) },
  ];
  return (
    <ul className={css.counts} aria-label={words.counts}>
      {all.map(({ count, label, hint }) => (
        <li key={label}>
          <b className="num">{count}</b> <span>{label}</span>
          <small>{hint}</small>
        </li>
      ))}
    </ul>
  );
}

function Head({ title, hint }: { title: string; hint?: string }) {
  return (
    <div className={css.head}>
      <h2>{title}</h2>
      {hint && <span className="t2">{hint}</span>}
    </div>
  );
}

function Load({ plan: { weeks } }: { plan: ProgrammePlan }) {
  const words = t.plan.preview;
  const counts = weeks.map(({ policies, tasks }) => policies + tasks);
  const items = counts.reduce((sum, count) => sum + count, 0);
  return (
    <section className={css.section}>
      <Head title={words.load} hint={words.loadHint(items, Math.max(0, ...counts))} />
      <LoadChart weeks={weeks} caption={words.loadCaption(items, weeks.length, Math.max(0, ...counts))} />
    </section>
  );
}

function Coverage({ plan: { coverage }, settings, frameworks, questions }: Props & { plan: ProgrammePlan }) {
  const words = t.plan.preview;
  const keys = useControlKeys(settings.frameworks, bodyOf(settings, questions).scope);
  return (
    <section className={css.section}>
      <Head title={words.coverage} />
      <ul className={css.coverage}>
        {coverage.map(({ frameworkId, requirements, leftOut, met, metBefore }) => {
          const framework = frameworks.find(({ id }) => id === frameworkId);
          const own = keys.get(framework?.alias ?? '') ?? new Set<string>();
          const others = [...keys].filter(([alias]) => alias !== framework?.alias);
          const shared = [...own].filter((key) => others.some(([, all]) => all.has(key))).length;
          const all = requirements - leftOut;
          return (
            <li key={frameworkId}>
              <span className={css.between}>
                <b>{framework?.name}</b>
                <span className="num">{words.covered(met, all)}</span>
              </span>
              <span className={css.meter} aria-hidden="true">
                <i style={{ width: `${all > 0 ? (100 * met) / all : 0}%` }} />
              </span>
              <small>
                {[words.coverageHint(metBefore, shared, own.size), leftOut > 0 ? words.leftOutCount(leftOut) : '']
                  .filter(Boolean)
                  .join('; ') || '\u00a0'}
              </small>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

type Decision = { key: string; title: string; hint?: string; verb?: string; to?: Step };

/** Questions without an answer are one line; the rest is named one by one. */
function decisionsOf({ decisions, policies, tasks }: ProgrammePlan): Decision[] {
  const words = t.plan.preview;
  const unanswered = decisions.filter(({ kind }) => kind === 'unanswered').length;
  const itemsOf = (role: string) => [...policies, ...tasks].filter((one) => one.role === role && !one.assigneeId).length;
  const rest = decisions
    .filter(({ kind }) => kind !== 'unanswered')
    .map(({ kind, subject, message }): Decision => {
      const key = `${kind}:${subject}`;
      if (kind === 'uncovered') return { key, title: words.uncovered(subject) };
      if (kind === 'unlinked') return { key, title: words.unlinked(subject) };
      if (kind === 'too_close') return { key, title: words.tooClose };
      if (kind !== 'no_owner' || !(subject in t.plan.roles)) return { key, title: message };
      const title = words.noOwner(t.plan.roles[subject as Role]);
      return { key, title, hint: words.noOwnerHint(itemsOf(subject)), verb: words.decide, to: 'people' };
    });
  const open: Decision[] =
    unanswered > 0
      ? [{ key: 'unanswered', title: words.unanswered(unanswered), hint: words.unansweredHint, verb: words.answer, to: 'scope' }]
      : [];
  return [...open, ...rest];
}

function Decisions({ plan, go }: Props & { plan: ProgrammePlan }) {
  const words = t.plan.preview;
  const all = decisionsOf(plan);
  if (all.length === 0) return null;
  return (
    <section className={css.section}>
      <Head title={words.decisions} hint={words.decisionsHint} />
      <ul className={css.lines}>
        {all.map(({ key, title, hint, verb, to }) => (
          <li key={key}>
            <Glyph shape="dash" tone="info" />
            <span className={css.words}>
              <b>{title}</b> {hint && <span className="t2">{hint}</span>}
            </span>
            {verb && to && (
              <button type="button" className="plain link" aria-label={`${verb}: ${title}`} onClick={() => go(to)}>
                {verb}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The requirements that do not concern the organization. Their titles are fetched when somebody looks. */
function LeftOut({ plan: { leftOut }, settings, frameworks }: Props & { plan: ProgrammePlan }) {
  const [isOpen, setOpen] = useState(false);
  const chosen = frameworks.filter(({ alias }) => settings.frameworks.includes(alias));
  const { byId, error } = useRequirements(chosen, isOpen);
  return (
    <details className={css.leftOut} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t.plan.preview.leftOut(leftOut.length)}</summary>
      {error ? (
        <SectionError error={error} />
      ) : (
        <dl>
          {leftOut.map(({ requirementId, justification }) => {
            const one = byId.get(requirementId);
            return (
              <div key={requirementId}>
                <dt>
                  <span className="mono t3">{one?.code}</span> {one?.title}
                </dt>
                <dd>{justification}</dd>
              </div>
            );
          })}
        </dl>
      )}
    </details>
  );
}

function Owners({ plan, settings, go }: { plan: ProgrammePlan; settings: Settings; go: (step: Step) => void }) {
  const words = t.plan.preview;
  const people = usePeople();
  const { user, memberId } = useMe();
  const items = [...plan.policies, ...plan.tasks];
  const weekOf = (date: string) => plan.weeks.findIndex(({ startsOn, endsOn }) => startsOn <= date && date <= endsOn);
  return (
    <section className={css.section}>
      <Head title={words.owners} hint={words.items} />
      <ul className={css.byRole}>
        {ROLES.map((role) => {
          const own = items.filter((one) => one.role === role);
          const most = Math.max(0, ...plan.weeks.map((_, at) => own.filter(({ dueDate }) => weekOf(dueDate) === at).length));
          const owner = settings.owners[role];
          const name = people.name(owner) ?? (owner === memberId ? user?.name : undefined);
          return (
            <li key={role}>
              <span className={css.between}>
                <b>{t.plan.roles[role]}</b>
                <b className="num">{own.length}</b>
              </span>
              <span className={css.between}>
                {owner ? (
                  <Person name={name} />
                ) : (
                  <button type="button" className={`plain ${css.choose}`} onClick={() => go('people')}>
                    <Glyph shape="ring" tone="warn" />
                    {words.choosePerson}
                  </button>
                )}
                <span className="t2">{words.upTo(most)}</span>
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
