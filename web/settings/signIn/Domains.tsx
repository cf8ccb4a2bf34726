import { Button, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client';
import { words } from '../../api/problem';
import { refetch } from '../../api/query';
import { useMe } from '../../api/session';
import { CopyList } from '../../parts/CopyList';
import { useConfirm } from '../../parts/confirm';
import { useConfirmed } from '../../parts/confirmed';
import { moment } from '../../parts/format';
import { ServerText } from '../../parts/ServerText';
import { StatusPill } from '../../parts/StatusPill';
import { toast } from '../../parts/toast';
import { Way, Ways } from '../../parts/Way';
import { t } from '../../texts';
import { useForm } from '../form';
import { Section } from '../Section';
import css from '../settings.module.css';
import { DOMAINS } from './queries';
import { type Connection, domainState, isByOperator, type MailDomain } from './sso';

/** The mail domains of the organization, and the DNS records that verify them. */
export function Domains({ domains, connections }: { domains: MailDomain[]; connections: Connection[] }) {
  const { can } = useMe();
  const texts = t.signIn.domains;
  return (
    <Section id="domains" title={texts.title} lead={texts.lead}>
      {domains.length === 0 && <p className="t3">{texts.none}</p>}
      {domains.length > 0 && (
        <Ways>
          {domains.map((domain) => (
            <Line key={domain.id} domain={domain} connections={connections} />
          ))}
        </Ways>
      )}
      {can('identity:update') && <Add />}
    </Section>
  );
}

function Line({ domain, connections }: { domain: MailDomain; connections: Connection[] }) {
  const { can } = useMe();
  const { ask, dialog } = useConfirm();
  const [busy, setBusy] = useState(false);
  const texts = t.signIn.domains;
  const { id, name, state, checkedAt } = domain;
  const isAnswered = isByOperator(domain);
  const params = { path: { domainId: id } };
  const mayChange = can('identity:update');

  async function verify() {
    setBusy(true);
    try {
      await api.POST('/v1/organization/domains/{domainId}/verify', { params });
      await refetch(DOMAINS);
    } catch (problem) {
      toast(words(problem), { bad: true });
    } finally {
      setBusy(false);
    }
  }
  const remove = async () => {
    await api.DELETE('/v1/organization/domains/{domainId}', { params });
    await refetch(DOMAINS);
    toast(texts.removed(name));
  };

  return (
    <Way
      title={name}
      state={
        <>
          <StatusPill {...domainState(domain)} /> {!isAnswered && checkedAt && texts.checked(moment(checkedAt))}
        </>
      }
      hint={isAnswered && texts.byOperator}
      actions={
        mayChange && (
          <>
            {!isAnswered && (
              <Button size="xs" variant="default" loading={busy} aria-label={texts.verifyOf(name)} onClick={() => void verify()}>
                {texts.verify}
              </Button>
            )}
            <Button
              size="xs"
              variant="subtle"
              aria-label={texts.removeOf(name)}
              onClick={() =>
                ask({
                  title: texts.removeAsk(name),
                  text: texts.removeText,
                  verb: t.actions.remove,
                  withIdentity: true,
                  act: remove,
                })
              }
            >
              {t.actions.remove}
            </Button>
          </>
        )
      }
    >
      {state !== 'verified' && !isAnswered && <DnsRecord domain={domain} />}
      {connections.length > 1 && <Connected domain={domain} connections={connections} />}
      {dialog}
    </Way>
  );
}

/** The DNS record that verifies the domain, and what was found instead of it. */
function DnsRecord({ domain: { name, state, reason, record } }: { domain: MailDomain }) {
  const texts = t.signIn.domains;
  return (
    <>
      <p className="t2">{texts.advice[state]}</p>
      <CopyList
        items={[
          { name: texts.type, value: <span className="mono">{record.type}</span> },
          { name: texts.name, value: record.name, copy: texts.copyName(name) },
          { name: texts.value, value: record.value, copy: texts.copyValue(name) },
        ]}
      />
      <p className={css.found} aria-live="polite">
        {reason && (
          <>
            {texts.found} <ServerText>{reason}</ServerText>
          </>
        )}
      </p>
    </>
  );
}

/** The connection that people of the domain sign in with, where there are several. */
function Connected({ domain: { id, name, connectionId }, connections }: { domain: MailDomain; connections: Connection[] }) {
  const { can } = useMe();
  const { run, dialog } = useConfirmed();
  const texts = t.signIn.domains;
  const set = (next: string | null) =>
    run(async () => {
      await api.PATCH('/v1/organization/domains/{domainId}', {
        params: { path: { domainId: id } },
        body: { connectionId: next },
      });
      await refetch(DOMAINS);
      toast(t.edits.saved);
    }).catch((problem) => toast(words(problem), { bad: true }));
  return (
    <>
      <Select
        className={css.narrow}
        label={texts.connection}
        aria-label={texts.connectionOf(name)}
        placeholder={texts.noConnection}
        data={connections.map(({ id, name }) => ({ value: id, label: name }))}
        value={connectionId}
        readOnly={!can('identity:update')}
        clearable={can('identity:update')}
        clearButtonProps={{ 'aria-label': texts.clearConnection(name) }}
        onChange={(next) => void set(next)}
      />
      {dialog}
    </>
  );
}

function Add() {
  const { run, dialog } = useConfirmed();
  const texts = t.signIn.domains;
  const [name, setName] = useState('');
  const form = useForm(['name'], () =>
    run(async () => {
      await api.POST(DOMAINS, { body: { name: name.trim() } });
      setName('');
      await refetch(DOMAINS);
      toast(texts.added(name.trim()));
    }),
  );
  return (
    <>
      <form onSubmit={form.submit} className={css.inline} noValidate>
        <TextInput
          label={texts.domain}
          description={texts.domainHelp}
          value={name}
          error={form.errors.name ?? form.general}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" loading={form.busy} disabled={name.trim() === ''}>
          {texts.add}
        </Button>
      </form>
      {dialog}
    </>
  );
}
