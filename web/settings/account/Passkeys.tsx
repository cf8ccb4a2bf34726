import { Button, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { api } from '../../api/client';
import {
  createPasskey,
  forgetPasskey,
  hasPasskeys,
  isAtIpAddress,
  type Passkey,
  passkeyWords,
  registrationOptions,
} from '../../api/passkeys';
import type { Answer } from '../../api/paths';
import { Problem } from '../../api/problem';
import { refetch } from '../../api/query';
import { browser } from '../../parts/browser';
import { useConfirm } from '../../parts/confirm';
import { Dialog } from '../../parts/Dialog';
import { day, moment } from '../../parts/format';
import { toast } from '../../parts/toast';
import { t } from '../../texts';
import { Fetched, Head, type Query, Section } from '../Section';
import css from '../settings.module.css';
import { changed, SECURITY } from './queries';

/** The passkeys of the account, which are added, renamed and removed here. */
export function Passkeys({ security }: { security: Query<Answer<typeof SECURITY>> }) {
  const [isAdding, setAdding] = useState(false);
  const texts = t.signIn.security;
  const own = t.security.passkeys;
  const mayAdd = security.data?.arePasskeysAvailable === true && hasPasskeys();
  return (
    <Section
      title={own.title}
      lead={own.lead}
      actions={
        mayAdd && (
          <Button variant="default" leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
            {own.add}
          </Button>
        )
      }
    >
      <Fetched of={security}>
        {({ passkeys, arePasskeysAvailable }) => (
          <>
            {!mayAdd && <p className="t2">{obstacle(arePasskeysAvailable)}</p>}
            {passkeys.length === 0 && mayAdd && <p className="t3">{texts.noPasskeys}</p>}
            {passkeys.length > 0 && <Table passkeys={passkeys} />}
          </>
        )}
      </Fetched>
      {isAdding && <Add onClose={() => setAdding(false)} />}
    </Section>
  );
}

/** Why no passkey can be added here. */
function obstacle(isAvailable: boolean): string {
  const texts = t.signIn.security;
  if (isAvailable && !isAtIpAddress()) return texts.unsupported;
  const isLocal = location.hostname.startsWith('127.') || location.hostname === '[::1]';
  const local = location.origin.replace(location.hostname, 'localhost');
  return isLocal ? `${texts.unavailable} ${texts.local(local)}` : texts.unavailable;
}

function Table({ passkeys }: { passkeys: Passkey[] }) {
  const { columns } = t.signIn.security;
  return (
    <table className={css.table}>
      <caption className="hidden-visually">{t.security.passkeys.title}</caption>
      <Head columns={[columns.name, columns.kind, columns.added, columns.used]} />
      <tbody>
        {passkeys.map((passkey) => (
          <Line key={passkey.id} passkey={passkey} />
        ))}
      </tbody>
    </table>
  );
}

function Line({ passkey: { id, name, createdAt, lastUsedAt, isSynced } }: { passkey: Passkey }) {
  const { ask, dialog } = useConfirm();
  const [isRenaming, setRenaming] = useState(false);
  const texts = t.signIn.security;
  const { columns } = texts;
  const remove = async () => {
    await api.DELETE('/v1/auth/passkeys/{id}', { params: { path: { id } } });
    forgetPasskey(id);
    await changed(texts.removedPasskey(name));
  };
  return (
    <tr>
      <td data-label={columns.name}>
        <b>{name}</b>
      </td>
      <td data-label={columns.kind}>{isSynced ? texts.synced : texts.device}</td>
      <td data-label={columns.added} className="t2">
        {day(new Date(createdAt))}
      </td>
      <td data-label={columns.used} className="t2">
        {lastUsedAt ? moment(lastUsedAt) : texts.never}
      </td>
      <td data-align="right">
        <Button size="xs" variant="subtle" aria-label={texts.renameOf(name)} onClick={() => setRenaming(true)}>
          {texts.rename}
        </Button>
        <Button
          size="xs"
          variant="subtle"
          aria-label={texts.removeOf(name)}
          onClick={() =>
            ask({
              title: texts.removePasskeyAsk(name),
              text: texts.removePasskeyText,
              verb: t.actions.remove,
              withIdentity: true,
              isOfAccount: true,
              act: remove,
            })
          }
        >
          {t.actions.remove}
        </Button>
        {isRenaming && <Rename id={id} now={name} onClose={() => setRenaming(false)} />}
        {dialog}
      </td>
    </tr>
  );
}

type NameProps = { value: string; error?: string; onChange: (next: string) => void };

function NameInput({ value, error, onChange }: NameProps) {
  const texts = t.signIn.security;
  return (
    <TextInput
      label={texts.name}
      description={texts.nameHelp}
      value={value}
      error={error}
      maxLength={100}
      autoComplete="off"
      data-autofocus
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function Rename({ id, now, onClose }: { id: string; now: string; onClose: () => void }) {
  const [name, setName] = useState(now);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const texts = t.signIn.security;
  return (
    <Dialog
      title={texts.renameTitle}
      verb={texts.rename}
      isReady={name.trim() !== ''}
      fields={['name']}
      onErrors={setErrors}
      onClose={onClose}
      act={async () => {
        await api.PATCH('/v1/auth/passkeys/{id}', { params: { path: { id } }, body: { name: name.trim() } });
        await refetch(SECURITY);
        toast(t.edits.saved);
      }}
    >
      <NameInput value={name} error={errors.name} onChange={setName} />
    </Dialog>
  );
}

function Add({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState(() => browser(navigator.userAgent) ?? '');
  const [errors, setErrors] = useState<Record<string, string>>({});
  const texts = t.signIn.security;
  async function act() {
    try {
      const passkey = await createPasskey(await registrationOptions(), name.trim());
      await changed(texts.created(passkey.name));
    } catch (error) {
      throw error instanceof Problem ? error : new Error(passkeyWords(error));
    }
  }
  return (
    <Dialog
      title={t.security.passkeys.add}
      verb={t.security.passkeys.add}
      withIdentity
      isOfAccount
      fields={['name']}
      onErrors={setErrors}
      act={act}
      onClose={onClose}
    >
      <p className="t2">{t.security.passkeys.lead}</p>
      <NameInput value={name} error={errors.name} onChange={setName} />
    </Dialog>
  );
}
