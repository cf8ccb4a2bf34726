import { Checkbox, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../api/client';
import { Problem } from '../api/problem';
import { refetch } from '../api/query';
import type { Versioned } from '../api/records';
import { useMe } from '../api/session';
import { useConfirmed } from '../parts/confirmed';
import { Dialog } from '../parts/Dialog';
import { useDraft } from '../parts/drafts';
import { Field } from '../parts/Field';
import { day, moment } from '../parts/format';
import { StatusPill } from '../parts/StatusPill';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { FormBody, useForm } from './form';
import { bodyOf, holdsFrom, type Policy, problemsOf, type Typed, typedOf } from './policy';
import { Fetched, Section } from './Section';
import css from './settings.module.css';

const PATH = '/v1/organization/sign-in-policy' as const;
const FIELDS = ['mfa', 'graceDays', 'idleMinutes', 'maxHours'];

async function fetchPolicy(): Promise<Versioned<Policy>> {
  const { data, response } = await api.GET(PATH);
  return { data: data as Policy, version: response.headers.get('ETag') };
}

/** The organization's demands on its members' sign-ins. */
export function SignInPolicy() {
  const { can } = useMe();
  const policy = useQuery({ queryKey: ['policy', PATH], queryFn: fetchPolicy });
  return (
    <Section title={t.settings.sections.security} lead={t.settings.policy.lead}>
      <Fetched of={policy}>
        {(known) => (
          <>
            <Without count={known.data.membersWithoutSecondFactor} />
            {can('identity:update') ? <Form known={known} /> : <Shown of={known.data} />}
          </>
        )}
      </Fetched>
    </Section>
  );
}

/** The number of members who sign in with a password alone. */
function Without({ count }: { count: number }) {
  const { can } = useMe();
  const texts = t.settings.policy;
  return (
    <p className={css.bar}>
      {count === 0 ? (
        <StatusPill label={texts.everyone} tone="ok" shape="check" />
      ) : (
        <StatusPill label={texts.without(count)} tone="warn" shape="alert" />
      )}
      {count > 0 && can('member:read') && (
        <Link to="/people" search={{ hasSecondFactor: 'false' } as never} className="link">
          {texts.show}
        </Link>
      )}
    </p>
  );
}

const isOver = (at: string | Date) => new Date(at).getTime() <= Date.now();

/** From when on the policy holds, in words. */
function holdsWords(from: string): string {
  const when = day(new Date(from));
  return isOver(from) ? t.settings.policy.holdsSince(when) : t.settings.policy.holdsFrom(when);
}

/** The policy for readers who cannot change it. */
function Shown({ of: policy }: { of: Policy }) {
  const texts = t.settings.policy;
  return (
    <dl>
      <Field name="mfa" label={texts.factor} kind="text" value={null}>
        {policy.mfa === 'required' ? texts.required : texts.optional}
        {policy.mfaFrom && <span className={css.answer}>{holdsWords(policy.mfaFrom)}</span>}
      </Field>
      <Field name="graceDays" label={texts.graceDays} kind="text" value={null}>
        {texts.days(policy.graceDays)}
      </Field>
      <Field name="idleMinutes" label={texts.idle} kind="text" value={null}>
        {policy.idleMinutes === null ? texts.server : texts.minutes(policy.idleMinutes)}
      </Field>
      <Field name="maxHours" label={texts.age} kind="text" value={null}>
        {policy.maxHours === null ? texts.server : texts.hours(policy.maxHours)}
      </Field>
    </dl>
  );
}

function Form({ known }: { known: Versioned<Policy> }) {
  const texts = t.settings.policy;
  const [draft, setDraft, discard] = useDraft<Typed | null>('sign-in-policy', null);
  const [isAsking, setAsking] = useState(false);
  const { run, dialog } = useConfirmed();
  const typed = draft ?? typedOf(known.data, known.version);
  const set = (patch: Partial<Typed>) => setDraft({ ...typed, ...patch });
  const from = holdsFrom(known.data, typed);

  async function save() {
    try {
      const header = typed.version ? { 'If-Match': typed.version } : {};
      await api.PATCH(PATH, { params: { header }, body: bodyOf(typed) });
    } catch (problem) {
      if (!(problem instanceof Problem && problem.isConflict)) throw problem;
      set({ version: (await fetchPolicy()).version });
      throw new Error(texts.conflict);
    }
    await refetch(PATH, '/v1/auth/security', 'session');
    discard();
    toast(texts.saved);
  }
  const form = useForm(FIELDS, async () => {
    const problems = problemsOf(typed);
    if (Object.keys(problems).length > 0) return form.setErrors(problems);
    if (typed.isRequired) return setAsking(true);
    await run(save);
  });
  // Problems of fields are shown by the fields, which the question covers.
  const saveRequired = () =>
    save().catch((problem) => {
      const errors = problem instanceof Problem ? problem.fields() : {};
      if (Object.keys(errors).length === 0) throw problem;
      form.setErrors(errors);
    });

  return (
    <>
      <FormBody
        form={form}
        verb={t.actions.save}
        isReady={draft !== null}
        cancel={draft === null ? undefined : { label: t.drafts.discard, onClick: discard }}
      >
        <fieldset className={css.steps}>
          <legend>{texts.factor}</legend>
          <Checkbox
            label={texts.mfa}
            description={texts.mfaHelp}
            checked={typed.isRequired}
            error={form.errors.mfa}
            onChange={(event) => set({ isRequired: event.currentTarget.checked })}
          />
          <TextInput
            type="number"
            inputMode="numeric"
            min={0}
            max={90}
            label={texts.graceDays}
            description={texts.graceHelp}
            value={typed.graceDays}
            error={form.errors.graceDays}
            onChange={(event) => set({ graceDays: event.currentTarget.value })}
          />
          <p className="t2" role="status">
            {draft === null && known.data.mfaFrom ? holdsWords(known.data.mfaFrom) : from && texts.wouldHold(day(from))}
          </p>
        </fieldset>
        <fieldset className={css.steps}>
          <legend>{texts.sessions}</legend>
          <TextInput
            type="number"
            inputMode="numeric"
            min={5}
            max={43200}
            label={`${texts.idle} ${t.forms.optional}`}
            description={texts.idleHelp}
            value={typed.idleMinutes}
            error={form.errors.idleMinutes}
            onChange={(event) => set({ idleMinutes: event.currentTarget.value })}
          />
          <TextInput
            type="number"
            inputMode="numeric"
            min={1}
            max={8760}
            label={`${texts.age} ${t.forms.optional}`}
            description={texts.ageHelp}
            value={typed.maxHours}
            error={form.errors.maxHours}
            onChange={(event) => set({ maxHours: event.currentTarget.value })}
          />
        </fieldset>
        {draft !== null && (
          <p className="t2" role="status">
            {t.drafts.kept}
          </p>
        )}
        {known.data.updatedAt && <p className="t3">{texts.changed(moment(known.data.updatedAt))}</p>}
      </FormBody>
      {isAsking && (
        <Dialog title={texts.ask} verb={texts.verb} withIdentity act={saveRequired} onClose={() => setAsking(false)}>
          <p className="t2">
            {texts.askText(known.data.membersWithoutSecondFactor, day(from && !isOver(from) ? from : new Date()))}
          </p>
        </Dialog>
      )}
      {dialog}
    </>
  );
}
