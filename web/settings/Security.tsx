import { Button, Modal, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { $api, api, type Schemas } from '../api/client';
import {
  createPasskey,
  forgetPasskey,
  hasPasskeys,
  isAtIpAddress,
  type Passkey,
  passkeyWords,
  registrationOptions,
} from '../api/passkeys';
import type { Answer } from '../api/paths';
import { Problem, words } from '../api/problem';
import { refetch } from '../api/query';
import { browser } from '../parts/browser';
import { useConfirm } from '../parts/confirm';
import { useConfirmed } from '../parts/confirmed';
import { Dialog } from '../parts/Dialog';
import { day, moment } from '../parts/format';
import { Panel } from '../parts/Panel';
import { StatusPill } from '../parts/StatusPill';
import { type AppSecret, AppSetup, createAppSecret } from '../parts/security/AppSetup';
import { RecoveryCodes } from '../parts/security/RecoveryCodes';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { Identities } from './Identities';
import { Fetched, Head, Section } from './Section';
import css from './settings.module.css';

type State = Answer<'/v1/auth/security'>;
type Demand = State['demands'][number];
const PATH = '/v1/auth/security' as const;

const changed = (message: string) => refetch('/v1/auth/', 'session').then(() => toast(message));

/** The second factors of the account: authenticator app, recovery codes and passkeys. */
export function Security() {
  const security = $api.useQuery('get', PATH);
  const texts = t.settings.security;
  return (
    <>
      <Section title={texts.title} lead={texts.lead}>
        <Fetched of={security}>
          {(state) => (
            <>
              <Demands state={state} />
              <ul className={css.ways}>
                <App totp={state.totp} />
                <Codes state={state} />
              </ul>
            </>
          )}
        </Fetched>
      </Section>
      <Passkeys state={security.data} error={security.error} onRetry={() => void security.refetch()} />
      {security.data && <Identities identities={security.data.identities} />}
    </>
  );
}

function demandWords({ organizationName, mfa, mfaFrom, sso, isExempt }: Demand): string {
  const texts = t.settings.security.demands;
  if (sso === 'required') return isExempt ? texts.exempt(organizationName) : texts.sso(organizationName);
  if (mfa === 'optional') return texts.optional(organizationName);
  const isLater = mfaFrom !== null && Date.parse(mfaFrom) > Date.now();
  return isLater ? texts.from(organizationName, day(new Date(mfaFrom))) : texts.now(organizationName);
}

/** The demands of the organizations, with a warning if the account does not meet them. */
function Demands({ state: { demands, totp, passkeys } }: { state: State }) {
  const hasFactor = totp.isActive || passkeys.length > 0;
  return (
    <ul className={css.demands}>
      {demands.map((demand) => (
        <li key={demand.organizationId}>
          {demandWords(demand)}{' '}
          {(demand.sso === 'required' ? demand.isExempt : demand.mfa === 'required') && !hasFactor && (
            <StatusPill label={t.settings.security.missing} tone="warn" shape="alert" />
          )}
        </li>
      ))}
    </ul>
  );
}

function App({ totp: { isActive, since } }: { totp: State['totp'] }) {
  const { run, dialog: confirmation } = useConfirmed({ isOfAccount: true });
  const { ask, dialog } = useConfirm();
  const [secret, setSecret] = useState<AppSecret>();
  // The recovery codes are shown once: they are left by a button, not by a stray click.
  const [isLocked, setLocked] = useState(false);
  const [busy, setBusy] = useState(false);
  const texts = t.settings.security;
  const own = t.security.app;

  async function start() {
    setBusy(true);
    try {
      const next = await run(createAppSecret);
      if (next) setSecret(next);
    } catch (problem) {
      toast(words(problem), { bad: true });
      void refetch(PATH);
    } finally {
      setBusy(false);
    }
  }
  const close = () => {
    setSecret(undefined);
    setLocked(false);
  };
  const remove = async () => {
    await api.DELETE('/v1/auth/totp');
    await changed(texts.removed);
  };
  return (
    <li className={css.way}>
      <div>
        <b>{own.title}</b>
        <span className="t2">
          {isActive ? <StatusPill label={texts.active} tone="ok" shape="check" /> : texts.none}{' '}
          {isActive && since && texts.since(day(new Date(since)))}
        </span>
        {!isActive && <span className="t3">{own.lead}</span>}
      </div>
      {isActive ? (
        <Button
          variant="default"
          onClick={() =>
            ask({
              title: texts.removeAsk,
              text: texts.removeText,
              verb: texts.remove,
              withIdentity: true,
              isOfAccount: true,
              act: remove,
            })
          }
        >
          {texts.remove}
        </Button>
      ) : (
        <Button variant="default" loading={busy} onClick={() => void start()}>
          {own.setUp}
        </Button>
      )}
      {secret && (
        <Panel
          title={own.panel}
          onClose={close}
          closeOnClickOutside={false}
          closeOnEscape={!isLocked}
          withCloseButton={!isLocked}
        >
          <AppSetup
            key={secret.secret}
            secret={secret}
            onAgain={() => void start()}
            onActive={() => setLocked(true)}
            onDone={() => {
              close();
              void changed(texts.set);
            }}
          />
        </Panel>
      )}
      {confirmation}
      {dialog}
    </li>
  );
}

const FEW = 3;

function Codes({ state: { totp, recoveryCodes } }: { state: State }) {
  const { ask, dialog } = useConfirm();
  const [codes, setCodes] = useState<string[]>();
  const texts = t.settings.security;
  const own = t.security.recovery;
  const { left, createdAt } = recoveryCodes;
  const renew = async () => {
    const { data } = await api.POST('/v1/auth/recovery-codes');
    setCodes(data?.recoveryCodes ?? undefined);
    await refetch(PATH);
  };
  if (!totp.isActive && left === 0) return null;
  return (
    <li className={css.way}>
      <div>
        <b>{own.title}</b>
        <span className="t2">
          {own.left(left)}
          {createdAt && `, ${texts.codesMade(day(new Date(createdAt)))}`}{' '}
          {left <= FEW && <StatusPill label={texts.few} tone="warn" shape="alert" />}
        </span>
        <span className="t3">{texts.codesText}</span>
      </div>
      {totp.isActive && (
        <Button
          variant="default"
          onClick={() =>
            ask({
              title: texts.renewAsk,
              text: texts.renewText,
              verb: texts.renew,
              withIdentity: true,
              isOfAccount: true,
              isSafe: true,
              act: renew,
            })
          }
        >
          {texts.renew}
        </Button>
      )}
      {codes && (
        <Modal
          opened
          onClose={() => undefined}
          title={own.title}
          centered
          withCloseButton={false}
          closeOnClickOutside={false}
          closeOnEscape={false}
          attributes={{ header: { role: 'presentation' } }}
        >
          <RecoveryCodes codes={codes} onDone={() => setCodes(undefined)} />
        </Modal>
      )}
      {dialog}
    </li>
  );
}

type PasskeysProps = { state: State | undefined; error: unknown; onRetry: () => void };

function Passkeys({ state, error, onRetry }: PasskeysProps) {
  const [isAdding, setAdding] = useState(false);
  const texts = t.settings.security;
  const own = t.security.passkeys;
  const mayAdd = state?.arePasskeysAvailable === true && hasPasskeys();
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
      <Fetched of={{ data: state, error, refetch: onRetry }}>
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
  const texts = t.settings.security;
  if (isAvailable && !isAtIpAddress()) return texts.unsupported;
  const isLocal = location.hostname.startsWith('127.') || location.hostname === '[::1]';
  const local = location.origin.replace(location.hostname, 'localhost');
  return isLocal ? `${texts.unavailable} ${texts.local(local)}` : texts.unavailable;
}

function Table({ passkeys }: { passkeys: Schemas['Passkey'][] }) {
  const { columns } = t.settings.security;
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
  const texts = t.settings.security;
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
  const texts = t.settings.security;
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
  const texts = t.settings.security;
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
        await refetch(PATH);
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
  const texts = t.settings.security;
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
