import { Button, Checkbox, Select } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client';
import { SERVICE_ACCOUNTS, usePeople } from '../../api/people';
import { Problem } from '../../api/problem';
import { refetch } from '../../api/query';
import type { Versioned } from '../../api/records';
import { useMe } from '../../api/session';
import { useConfirm } from '../../parts/confirm';
import { useConfirmed } from '../../parts/confirmed';
import { Dialog } from '../../parts/Dialog';
import { useDraft } from '../../parts/drafts';
import { Field } from '../../parts/Field';
import { day, moment } from '../../parts/format';
import { NumberField } from '../../parts/NumberField';
import { toast } from '../../parts/toast';
import { t } from '../../texts';
import { FormBody, useForm } from '../form';
import { BeyondPolicy } from '../keys/BeyondPolicy';
import { API_KEYS } from '../keys/keys';
import { Section } from '../Section';
import css from '../settings.module.css';
import { bodyOf, holdsFrom, LIMITS, type Policy, problemsOf, type Typed, typedOf } from './policy';
import { fetchPolicy, POLICY } from './queries';
import { affectedBy, type Connection, type MailDomain, missingFor } from './sso';

const FIELDS = [
  'sso',
  'ssoMfa',
  'ssoMaxHours',
  'mfa',
  'graceDays',
  'idleMinutes',
  'maxHours',
  'apiKeyMaxDays',
  'apiKeyScopesRequired',
];

type Props = { known: Versioned<Policy>; connections: Connection[]; domains: MailDomain[] };

/** The organization's demands on its members' sign-ins. */
export function SignInPolicy(props: Props) {
  const { can } = useMe();
  const mayChange = can('identity:update');
  return (
    <Section title={t.signIn.policy.title} actions={mayChange && <SignOutEverybody />}>
      {mayChange ? <Form {...props} /> : <Shown of={props.known.data} />}
    </Section>
  );
}

/** Signs all members out of the organization. The session of the reader, too, is then asked to sign in again. */
function SignOutEverybody() {
  const { ask, dialog } = useConfirm();
  const texts = t.signIn.policy.everybody;
  const act = async () => {
    await api.POST('/v1/organization/sign-out-everybody');
    await refetch('session');
    toast(texts.done);
  };
  return (
    <>
      <Button
        variant="default"
        onClick={() => ask({ title: texts.ask, text: texts.text, verb: texts.verb, withIdentity: true, act })}
      >
        {texts.verb}
      </Button>
      {dialog}
    </>
  );
}

const isOver = (at: string | Date) => new Date(at).getTime() <= Date.now();

/** The words for the time from which the policy holds. */
function holdsWords(from: string): string {
  const when = day(new Date(from));
  return isOver(from) ? t.signIn.policy.holdsSince(when) : t.signIn.policy.holdsFrom(when);
}

/** The policy for readers who cannot change it. */
function Shown({ of: policy }: { of: Policy }) {
  const texts = t.signIn.policy;
  return (
    <>
      <dl>
        <Field name="sso" label={texts.sso} kind="text" value={null}>
          {policy.sso === 'required' ? texts.ssoRequired : texts.ssoOptional}
        </Field>
        <Field name="ssoMfa" label={texts.ssoMfa} kind="text" value={null}>
          {texts.ssoMfas[policy.ssoMfa]}
        </Field>
        <Field name="ssoMaxHours" label={texts.ssoAge} kind="text" value={null}>
          {texts.hours(policy.ssoMaxHours)}
        </Field>
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
        <Field name="apiKeyMaxDays" label={texts.keyDays} kind="text" value={null}>
          {policy.apiKeyMaxDays === null ? texts.noLimit : texts.days(policy.apiKeyMaxDays)}
        </Field>
        <Field name="apiKeyScopesRequired" label={texts.keyScopes} kind="text" value={null}>
          {policy.apiKeyScopesRequired ? t.filters.yes : t.filters.no}
        </Field>
      </dl>
      <OlderKeys count={policy.apiKeysBeyondPolicy} />
    </>
  );
}

/** The API keys that are older than the policy and exceed it, with the way to them. */
function OlderKeys({ count }: { count: number }) {
  const { can } = useMe();
  return (
    <BeyondPolicy count={count}>
      {can('api-key:read') && (
        <Link to="/settings/$section" params={{ section: 'keys' }} search={{}} className="link">
          {t.signIn.policy.showKeys}
        </Link>
      )}
    </BeyondPolicy>
  );
}

function Form({ known, connections, domains }: Props) {
  const texts = t.signIn.policy;
  const [draft, setDraft, discard] = useDraft<Typed | null>('sign-in-policy', null);
  const [isAsking, setAsking] = useState(false);
  const { run, dialog } = useConfirmed();
  // A draft may be older than some of the fields.
  const typed = { ...typedOf(known.data, known.version), ...draft };
  const set = (patch: Partial<Typed>) => setDraft({ ...typed, ...patch });
  const from = holdsFrom(known.data, typed);
  const isSsoNew = typed.isSsoRequired && known.data.sso === 'optional';
  const isMfaNew = typed.isRequired && known.data.mfa === 'optional';
  const missing = known.data.sso === 'optional' ? missingFor(connections, known.data.exemptMembers) : [];

  async function save() {
    try {
      const header = typed.version ? { 'If-Match': typed.version } : {};
      await api.PATCH(POLICY, { params: { header }, body: bodyOf(typed) });
    } catch (problem) {
      if (!(problem instanceof Problem && problem.isConflict)) throw problem;
      set({ version: (await fetchPolicy()).version });
      throw new Error(texts.conflict);
    }
    await refetch(POLICY, API_KEYS, SERVICE_ACCOUNTS, '/v1/auth/security', 'session');
    discard();
    toast(texts.saved);
  }
  const form = useForm(FIELDS, async () => {
    const problems = problemsOf(typed);
    if (Object.keys(problems).length > 0) return form.setErrors(problems);
    if (isSsoNew || isMfaNew) return setAsking(true);
    await run(save);
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
          <legend>{texts.sso}</legend>
          <Checkbox
            label={texts.requireSso}
            description={[texts.requireSsoHelp, ...missing].join(' ')}
            checked={typed.isSsoRequired}
            disabled={missing.length > 0 && !typed.isSsoRequired}
            error={form.errors.sso}
            onChange={(event) => set({ isSsoRequired: event.currentTarget.checked })}
          />
          <Select
            label={texts.ssoMfa}
            description={texts.ssoMfaHelp}
            data={Object.entries(texts.ssoMfas).map(([value, label]) => ({ value, label }))}
            value={typed.ssoMfa}
            error={form.errors.ssoMfa}
            allowDeselect={false}
            onChange={(next) => next && set({ ssoMfa: next as Typed['ssoMfa'] })}
          />
          <NumberField
            label={texts.ssoAge}
            description={texts.ssoAgeHelp}
            limits={LIMITS.ssoMaxHours}
            value={typed.ssoMaxHours}
            error={form.errors.ssoMaxHours}
            onChange={(ssoMaxHours) => set({ ssoMaxHours })}
          />
        </fieldset>
        <fieldset className={css.steps}>
          <legend>{texts.factor}</legend>
          <Checkbox
            label={texts.mfa}
            description={texts.mfaHelp}
            checked={typed.isRequired}
            error={form.errors.mfa}
            onChange={(event) => set({ isRequired: event.currentTarget.checked })}
          />
          <NumberField
            label={texts.graceDays}
            description={texts.graceHelp}
            limits={LIMITS.graceDays}
            value={typed.graceDays}
            error={form.errors.graceDays}
            onChange={(graceDays) => set({ graceDays })}
          />
          <p className="t2" role="status">
            {draft === null && known.data.mfaFrom ? holdsWords(known.data.mfaFrom) : from && texts.wouldHold(day(from))}
          </p>
        </fieldset>
        <fieldset className={css.steps}>
          <legend>{texts.sessions}</legend>
          <NumberField
            label={texts.idle}
            description={texts.idleHelp}
            limits={LIMITS.idleMinutes}
            isOptional
            value={typed.idleMinutes}
            error={form.errors.idleMinutes}
            onChange={(idleMinutes) => set({ idleMinutes })}
          />
          <NumberField
            label={texts.age}
            description={texts.ageHelp}
            limits={LIMITS.maxHours}
            isOptional
            value={typed.maxHours}
            error={form.errors.maxHours}
            onChange={(maxHours) => set({ maxHours })}
          />
        </fieldset>
        <fieldset className={css.steps}>
          <legend>{t.settings.sections.keys}</legend>
          <NumberField
            label={texts.keyDays}
            description={texts.keyDaysHelp}
            limits={LIMITS.apiKeyMaxDays}
            isOptional
            value={typed.apiKeyMaxDays}
            error={form.errors.apiKeyMaxDays}
            onChange={(apiKeyMaxDays) => set({ apiKeyMaxDays })}
          />
          <Checkbox
            label={texts.keyScopes}
            description={texts.keyScopesHelp}
            checked={typed.areKeyScopesRequired}
            error={form.errors.apiKeyScopesRequired}
            onChange={(event) => set({ areKeyScopesRequired: event.currentTarget.checked })}
          />
          <OlderKeys count={known.data.apiKeysBeyondPolicy} />
        </fieldset>
        {draft !== null && (
          <p className="t2" role="status">
            {t.drafts.kept}
          </p>
        )}
        {known.data.updatedAt && <p className="t3">{texts.changed(moment(known.data.updatedAt))}</p>}
      </FormBody>
      {isAsking && (
        <Dialog
          title={isSsoNew ? texts.askSso : texts.ask}
          verb={isSsoNew ? texts.verbSso : texts.verb}
          withIdentity
          act={() => form.atFields(save)}
          onClose={() => setAsking(false)}
        >
          {isSsoNew && <Affected exempt={known.data.exemptMembers} domains={domains} />}
          {isMfaNew && (
            <p className="t2">
              {texts.askText(known.data.membersWithoutSecondFactor, day(from && !isOver(from) ? from : new Date()))}
            </p>
          )}
        </Dialog>
      )}
      {dialog}
    </>
  );
}

/** The members for whom required single sign-on changes something. */
function Affected({ exempt, domains }: { exempt: string[]; domains: MailDomain[] }) {
  const people = usePeople();
  const texts = t.signIn.policy;
  const { count, outside } = affectedBy(people.all, exempt, domains);
  const names = exempt.flatMap((id) => people.name(id) ?? []).join(', ');
  return (
    <>
      <p className="t2">{texts.askSsoText(count, names)}</p>
      {outside.length > 0 && <p>{texts.outside(outside.length, outside.map(({ user }) => user.email).join(', '))}</p>}
    </>
  );
}
