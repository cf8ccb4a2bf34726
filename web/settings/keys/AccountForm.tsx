import { Select, Textarea, TextInput } from '@mantine/core';
import { api } from '../../api/client';
import { SERVICE_ACCOUNTS, type ServiceAccount, usePeople } from '../../api/people';
import { refetch } from '../../api/query';
import { useMe } from '../../api/session';
import { useDraft } from '../../parts/drafts';
import { withHints } from '../../parts/hints';
import { toast } from '../../parts/toast';
import { t } from '../../texts';
import { FormBody, useForm } from '../form';
import { roleChoices } from '../signIn/sso';
import { changesOf, newAccount, newBodyOf, type TypedAccount, typedOf } from './accounts';

type Props = { known?: ServiceAccount; onClose: () => void; onCreated?: (created: ServiceAccount) => void };

/** The settings of a service account. The draft has the fields that were touched. */
export function AccountForm({ known, onClose, onCreated }: Props) {
  const { memberId } = useMe();
  const people = usePeople();
  const [draft, setDraft, discard] = useDraft<Partial<TypedAccount> | null>(`service-account:${known?.id ?? 'new'}`, null);
  const texts = t.settings.serviceAccounts;
  const typed = { ...(known ? typedOf(known) : newAccount(memberId)), ...draft };
  const set = (patch: Partial<TypedAccount>) => setDraft({ ...draft, ...patch });
  const form = useForm(['name', 'description', 'role', 'ownerId'], async () => {
    let created: ServiceAccount | undefined;
    if (known) await api.PATCH(`${SERVICE_ACCOUNTS}/{id}`, { params: { path: { id: known.id } }, body: changesOf(known, typed) });
    else created = (await api.POST(SERVICE_ACCOUNTS, { body: newBodyOf(typed) })).data;
    discard();
    await refetch(SERVICE_ACCOUNTS);
    toast(texts.saved(typed.name.trim()));
    if (created) onCreated?.(created);
  });
  return (
    <FormBody
      form={form}
      verb={known ? t.actions.save : texts.create}
      isReady={typed.name.trim() !== '' && (known !== undefined || typed.ownerId !== null)}
      cancel={{
        label: t.actions.cancel,
        onClick: () => {
          discard();
          onClose();
        },
      }}
    >
      {known?.isOrphaned && <p className="t2">{texts.orphaned}</p>}
      <TextInput
        label={texts.name}
        description={texts.nameHelp}
        value={typed.name}
        error={form.errors.name}
        autoComplete="off"
        data-autofocus={!known || undefined}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <Textarea
        label={`${texts.purpose} ${t.forms.optional}`}
        value={typed.description}
        error={form.errors.description}
        autosize
        minRows={2}
        onChange={(event) => set({ description: event.currentTarget.value })}
      />
      <Select
        label={texts.role}
        description={texts.roleHelp}
        data={roleChoices(typed.role)}
        renderOption={withHints(t.people.rolesHelp)}
        value={typed.role}
        error={form.errors.role}
        allowDeselect={false}
        onChange={(role) => role && set({ role })}
      />
      <Select
        label={texts.owner}
        description={texts.ownerHelp}
        data={people.active.map(({ id, user }) => ({ value: id, label: user.name || user.email }))}
        value={typed.ownerId}
        error={form.errors.ownerId}
        searchable
        openOnFocus={false}
        allowDeselect={false}
        onChange={(ownerId) => ownerId && set({ ownerId })}
      />
    </FormBody>
  );
}
