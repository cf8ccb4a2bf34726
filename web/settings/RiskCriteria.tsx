import { Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, type Schemas } from '../api/client';
import { criteriaOf, type Scale } from '../api/criteria';
import { Problem } from '../api/problem';
import { refetch } from '../api/query';
import type { Versioned } from '../api/records';
import { useMe } from '../api/session';
import { useDraft } from '../parts/drafts';
import { Field } from '../parts/Field';
import { moment } from '../parts/format';
import { NumberField } from '../parts/NumberField';
import { ProblemText } from '../parts/ProblemText';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { bodyOf, LIMITS, problemsOf, SCALES, type Typed, typedOf } from './criteria';
import { FormBody, useForm } from './form';
import { Fetched, Section } from './Section';
import css from './settings.module.css';

type Set = Schemas['RiskCriteria'];
const PATH = '/v1/risk-criteria' as const;

async function fetchCriteria(): Promise<Versioned<Set>> {
  const { data, response } = await api.GET(PATH);
  return { data: data as Set, version: response.headers.get('ETag') };
}

export function RiskCriteria() {
  const { can } = useMe();
  const criteria = useQuery({ queryKey: ['criteria', PATH], queryFn: fetchCriteria });
  return (
    <Section title={t.settings.sections.criteria} lead={t.settings.criteria.lead}>
      <Fetched of={criteria}>
        {(known) => (can('organization:update') ? <Form known={known} /> : <Shown of={known.data} />)}
      </Fetched>
    </Section>
  );
}

const SCALE_NAMES = ['likelihood', 'impact'] as const;

/** The criteria for readers who cannot change them. */
function Shown({ of: set }: { of: Set }) {
  const texts = t.settings.criteria;
  const criteria = criteriaOf(set);
  return (
    <>
      {SCALE_NAMES.map((scale) => (
        <section key={scale} className={css.steps} aria-label={texts.levels[scale]}>
          <h3>{texts.levels[scale]}</h3>
          <dl>
            {SCALES[scale].map((level, at) => (
              <Field key={level} name={level} label={`${t.scales[`${scale}Axis`]} ${at + 1}`} kind="text" value={null}>
                {(criteria[scale] as Record<string, string>)[level]}
                {criteria.hints[scale][level] && <span className={css.answer}>{criteria.hints[scale][level]}</span>}
              </Field>
            ))}
          </dl>
        </section>
      ))}
      <dl>
        <Field name="appetite" label={texts.appetite} kind="text" value={null}>
          {set.appetite ?? texts.undecided}
        </Field>
        <Field name="acceptanceMonths" label={texts.months} kind="text" value={null}>
          {texts.monthsCount(set.acceptanceMonths)}
        </Field>
      </dl>
    </>
  );
}

function Form({ known }: { known: Versioned<Set> }) {
  const texts = t.settings.criteria;
  const [draft, setDraft, discard] = useDraft<Typed | null>('risk-criteria', null);
  const typed = draft ?? typedOf(known.data, known.version);
  const set = (patch: Partial<Typed>) => setDraft({ ...typed, ...patch });

  const form = useForm(['likelihood', 'impact', 'appetite', 'acceptanceMonths'], async () => {
    const problems = problemsOf(typed);
    if (Object.keys(problems).length > 0) return form.setErrors(problems);
    try {
      const header = typed.version ? { 'If-Match': typed.version } : {};
      await api.PUT(PATH, { params: { header }, body: bodyOf(typed) });
    } catch (problem) {
      if (!(problem instanceof Problem && problem.isConflict)) throw problem;
      set({ version: (await fetchCriteria()).version });
      throw new Error(texts.conflict);
    }
    await refetch(PATH);
    discard();
    toast(texts.saved);
  });

  return (
    <FormBody
      form={form}
      verb={t.actions.save}
      isReady={draft !== null}
      cancel={draft === null ? undefined : { label: t.drafts.discard, onClick: discard }}
    >
      {SCALE_NAMES.map((scale) => (
        <Steps key={scale} scale={scale} typed={typed} errors={form.errors} onChange={set} />
      ))}
      <fieldset className={css.steps}>
        <legend>{texts.limits}</legend>
        <NumberField
          label={texts.appetite}
          description={texts.appetiteHelp}
          limits={LIMITS.appetite}
          isOptional
          value={typed.appetite}
          error={form.errors.appetite}
          onChange={(appetite) => set({ appetite })}
        />
        <NumberField
          label={texts.months}
          description={texts.monthsHelp}
          limits={LIMITS.acceptanceMonths}
          value={typed.months}
          error={form.errors.acceptanceMonths}
          onChange={(months) => set({ months })}
        />
      </fieldset>
      {draft !== null && (
        <p className="t2" role="status">
          {t.drafts.kept}
        </p>
      )}
      {known.data.updatedAt && <p className="t3">{texts.changed(moment(known.data.updatedAt))}</p>}
    </FormBody>
  );
}

type StepsProps = { scale: Scale; typed: Typed; errors: Record<string, string>; onChange: (patch: Partial<Typed>) => void };

/** The five steps of a scale, each with a name and when it applies. */
function Steps({ scale, typed, errors, onChange }: StepsProps) {
  const texts = t.settings.criteria;
  const defaults = Object.values(criteriaOf(undefined)[scale]);
  const set = (at: number, patch: object) =>
    onChange({ [scale]: typed[scale].map((step, place) => (place === at ? { ...step, ...patch } : step)) });
  return (
    <fieldset className={css.steps}>
      <legend>{texts.levels[scale]}</legend>
      <p className="t3">{texts.nameHelp}</p>
      <ProblemText>{errors[scale]}</ProblemText>
      {typed[scale].map(({ name, description }, at) => (
        <div key={at} className={css.step}>
          <span className="num t3" aria-hidden="true">
            {at + 1}
          </span>
          <TextInput
            aria-label={texts.name(at + 1)}
            placeholder={defaults[at]}
            maxLength={60}
            value={name}
            error={errors[`${scale}.${at}`]}
            onChange={(event) => set(at, { name: event.currentTarget.value })}
          />
          <Textarea
            aria-label={texts.description(at + 1)}
            placeholder={texts.descriptionHint}
            maxLength={1000}
            autosize
            minRows={1}
            value={description}
            onChange={(event) => set(at, { description: event.currentTarget.value })}
          />
        </div>
      ))}
    </fieldset>
  );
}
