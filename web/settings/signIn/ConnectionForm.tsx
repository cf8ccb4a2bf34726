import { ActionIcon, Button, Checkbox, PasswordInput, Select, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { api } from '../../api/client';
import { refetch } from '../../api/query';
import { useConfirmed } from '../../parts/confirmed';
import { Dialog } from '../../parts/Dialog';
import { useDraft } from '../../parts/drafts';
import { ProblemText } from '../../parts/ProblemText';
import { toast } from '../../parts/toast';
import { t } from '../../texts';
import { FormBody, useForm } from '../form';
import css from '../settings.module.css';
import { CONNECTIONS } from './queries';
import { type Connection, changesOf, NEW_CONNECTION, newBodyOf, roleChoices, type TypedConnection, typedOf } from './sso';

const FIELDS = [
  'name',
  'issuer',
  'clientId',
  'clientSecret',
  'clientSecretExpiresAt',
  'scopes',
  'emailClaim',
  'groupsClaim',
  'defaultRole',
  'groupRoles',
];

type Props = { known?: Connection; onClose: () => void; onCreated?: (made: Connection) => void };

/** The settings of a connection. The draft has the fields that were touched, and never the secret. */
export function ConnectionForm({ known, onClose, onCreated }: Props) {
  const texts = t.signIn.sso;
  const { fields } = texts;
  const before = useMemo(() => (known ? typedOf(known) : NEW_CONNECTION), [known]);
  const [draft, setDraft, discard] = useDraft<Partial<TypedConnection> | null>(`sso-connection:${known?.id ?? 'new'}`, null);
  const [secret, setSecret] = useState('');
  const [isAsking, setAsking] = useState(false);
  const { run, dialog } = useConfirmed();
  const typed = { ...before, ...draft };
  const set = (patch: Partial<TypedConnection>) => setDraft({ ...draft, ...patch });

  async function save() {
    let made: Connection | undefined;
    if (known) {
      const params = { path: { connectionId: known.id } };
      await api.PATCH('/v1/organization/sso-connections/{connectionId}', { params, body: changesOf(known, typed, secret) });
    } else made = (await api.POST(CONNECTIONS, { body: newBodyOf(typed, secret) })).data;
    discard();
    setSecret('');
    await refetch(CONNECTIONS);
    toast(texts.saved(typed.name));
    if (made) onCreated?.(made);
  }
  const form = useForm(FIELDS, async () => {
    if (known?.isEnabled && !typed.isEnabled) return setAsking(true);
    await run(save);
  });

  const text = (name: 'name' | 'issuer' | 'clientId' | 'scopes' | 'emailClaim' | 'groupsClaim', help?: string) => (
    <TextInput
      label={fields[name]}
      description={help}
      value={typed[name]}
      error={form.errors[name]}
      autoComplete="off"
      spellCheck={false}
      data-autofocus={(name === 'name' && !known) || undefined}
      onChange={(event) => set({ [name]: event.currentTarget.value })}
    />
  );
  const box = (name: 'isEnabled' | 'isPublic' | 'addsMembers' | 'requiresGroup' | 'signsOutAtProvider', help?: string) => (
    <Checkbox
      label={fields[name]}
      description={help}
      checked={typed[name]}
      onChange={(event) => set({ [name]: event.currentTarget.checked })}
    />
  );

  return (
    <>
      <FormBody
        form={form}
        verb={known ? t.actions.save : texts.add}
        isReady={[typed.name, typed.issuer, typed.clientId].every((one) => one.trim() !== '')}
        cancel={{
          label: t.actions.cancel,
          onClick: () => {
            discard();
            onClose();
          },
        }}
      >
        {known && box('isEnabled', fields.isEnabledHelp)}
        {text('name', fields.nameHelp)}
        <fieldset className={css.steps}>
          <legend>{texts.parts.provider}</legend>
          {text('issuer', fields.issuerHelp)}
          {text('clientId')}
          {box('isPublic', fields.isPublicHelp)}
          {!typed.isPublic && (
            <>
              <PasswordInput
                label={fields.clientSecret}
                description={known?.hasClientSecret ? fields.secretKeep : fields.secretHelp}
                placeholder={known?.hasClientSecret ? fields.isSet : undefined}
                value={secret}
                error={form.errors.clientSecret}
                autoComplete="off"
                visibilityToggleButtonProps={{ 'aria-label': fields.showSecret }}
                onChange={(event) => setSecret(event.currentTarget.value)}
              />
              <TextInput
                type="date"
                label={`${fields.secretExpires} ${t.forms.optional}`}
                description={fields.secretExpiresHelp}
                value={typed.secretExpires}
                error={form.errors.clientSecretExpiresAt}
                onChange={(event) => set({ secretExpires: event.currentTarget.value })}
              />
            </>
          )}
          {box('signsOutAtProvider', fields.signsOutAtProviderHelp)}
        </fieldset>
        <fieldset className={css.steps}>
          <legend>{texts.parts.people}</legend>
          {box('addsMembers', fields.addsMembersHelp)}
          <Select
            label={fields.defaultRole}
            description={fields.defaultRoleHelp}
            data={roleChoices(typed.defaultRole)}
            value={typed.defaultRole}
            error={form.errors.defaultRole}
            allowDeselect={false}
            onChange={(role) => role && set({ defaultRole: role })}
          />
        </fieldset>
        <fieldset className={css.steps}>
          <legend>{texts.parts.groups}</legend>
          <Select
            label={fields.roleSync}
            description={fields.roleSyncHelp}
            data={Object.entries(fields.roleSyncs).map(([value, label]) => ({ value, label }))}
            value={typed.roleSync}
            allowDeselect={false}
            onChange={(next) => next && set({ roleSync: next as TypedConnection['roleSync'] })}
          />
          <GroupRoles value={typed.groupRoles} error={form.errors.groupRoles} onChange={(groupRoles) => set({ groupRoles })} />
          {box('requiresGroup', fields.requiresGroupHelp)}
        </fieldset>
        <fieldset className={css.steps}>
          <legend>{texts.parts.claims}</legend>
          {text('scopes', fields.scopesHelp)}
          {text('emailClaim', fields.claimHelp)}
          {text('groupsClaim', fields.claimHelp)}
        </fieldset>
        {draft !== null && (
          <p className="t2" role="status">
            {t.drafts.kept}
          </p>
        )}
      </FormBody>
      {isAsking && (
        <Dialog
          title={texts.disableAsk(typed.name)}
          verb={texts.disable}
          withIdentity
          act={() => form.atFields(save)}
          onClose={() => setAsking(false)}
        >
          <p className="t2">{texts.disableText}</p>
        </Dialog>
      )}
      {dialog}
    </>
  );
}

type GroupRolesProps = {
  value: TypedConnection['groupRoles'];
  error?: string;
  onChange: (next: TypedConnection['groupRoles']) => void;
};

/** A role for each group of the provider. */
function GroupRoles({ value, error, onChange }: GroupRolesProps) {
  const texts = t.signIn.sso.fields;
  const change = (at: number, patch: Partial<GroupRolesProps['value'][number]>) =>
    onChange(value.map((one, index) => (index === at ? { ...one, ...patch } : one)));
  return (
    <div className={css.boxes}>
      {value.map(({ group, role }, at) => (
        <div key={at} className={css.pair}>
          <TextInput
            aria-label={texts.group(at + 1)}
            placeholder={texts.groupPlaceholder}
            value={group}
            autoComplete="off"
            onChange={(event) => change(at, { group: event.currentTarget.value })}
          />
          <Select
            aria-label={texts.roleOfGroup(at + 1)}
            data={roleChoices(role)}
            value={role}
            allowDeselect={false}
            onChange={(next) => next && change(at, { role: next })}
          />
          <ActionIcon
            aria-label={texts.removeGroup(group || String(at + 1))}
            onClick={() => onChange(value.filter((_, index) => index !== at))}
          >
            <IconTrash size={16} stroke={1.6} />
          </ActionIcon>
        </div>
      ))}
      <ProblemText>{error}</ProblemText>
      <div>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          onClick={() => onChange([...value, { group: '', role: 'employee' }])}
        >
          {texts.addGroup}
        </Button>
      </div>
    </div>
  );
}
