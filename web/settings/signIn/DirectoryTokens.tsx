import { Button, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { api } from '../../api/client';
import { refetch } from '../../api/query';
import { useMe } from '../../api/session';
import { CopyList } from '../../parts/CopyList';
import { useConfirm } from '../../parts/confirm';
import { useConfirmed } from '../../parts/confirmed';
import { day, moment, nextDay, startOf, today } from '../../parts/format';
import { Panel } from '../../parts/Panel';
import { toast } from '../../parts/toast';
import { t } from '../../texts';
import { Expiry, isExpired } from '../expiry';
import { FormBody, useForm } from '../form';
import { Head } from '../Section';
import css from '../settings.module.css';
import { MAX_TOKENS, type Missing, type Token } from './directory';
import { DIRECTORY } from './queries';

type Props = {
  tokens: Token[];
  /** The address that goes with a token. */
  baseUrl: string;
  /** The steps without which no token can be created. */
  missing: Missing[];
};

/** The tokens with which the identity provider authenticates. */
export function DirectoryTokens({ tokens, baseUrl, missing }: Props) {
  const { can } = useMe();
  const [isCreating, setCreating] = useState(false);
  const texts = t.signIn.directory.tokens;
  const { columns } = texts;
  const mayChange = can('identity:update');
  const isFull = tokens.length >= MAX_TOKENS;
  const isLast = (token: Token) => tokens.every((other) => other === token || isExpired(other));
  return (
    <section className={css.part}>
      <div className={css.head}>
        <div>
          <h3>{texts.title}</h3>
          <p className="t2">{texts.lead}</p>
        </div>
        {mayChange && (
          <div className={css.actions}>
            <Button variant="default" disabled={isFull || missing.length > 0} onClick={() => setCreating(true)}>
              {texts.create}
            </Button>
          </div>
        )}
      </div>
      {mayChange && !isFull && missing.length > 0 && <Steps missing={missing} />}
      {mayChange && isFull && <p className="t3">{texts.full}</p>}
      {tokens.length === 0 ? (
        <p className="t3">{texts.none}</p>
      ) : (
        <table className={css.table}>
          <caption className="hidden-visually">{texts.title}</caption>
          <Head columns={[columns.name, columns.created, columns.used, columns.expires]} />
          <tbody>
            {tokens.map((token) => (
              <Line key={token.id} token={token} isLast={isLast(token)} />
            ))}
          </tbody>
        </table>
      )}
      {isCreating && <NewToken baseUrl={baseUrl} onClose={() => setCreating(false)} />}
    </section>
  );
}

/** The sections in which the missing steps are done. */
const ADDRESSES: Record<Missing, string> = { domain: '#domains', exempt: '#exempt-owners' };

function Steps({ missing }: { missing: Missing[] }) {
  const texts = t.signIn.directory.missing;
  const why: Record<Missing, string> = { domain: texts.domainWhy, exempt: texts.exemptWhy };
  return (
    <>
      <p>{texts.lead}</p>
      <ul className={css.checks}>
        {missing.map((step) => (
          <li key={step}>
            <a href={ADDRESSES[step]} className="link">
              {texts[step]}
            </a>
            <span className={css.answer}>{why[step]}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Line({ token, isLast }: { token: Token; isLast: boolean }) {
  const { can } = useMe();
  const { ask, dialog } = useConfirm();
  const texts = t.signIn.directory.tokens;
  const { id, name, prefix, createdAt, lastUsedAt } = token;
  const { columns } = texts;
  const revoke = async () => {
    await api.DELETE('/v1/organization/directory/tokens/{id}', { params: { path: { id } } });
    await refetch(DIRECTORY);
    toast(texts.revoked(name));
  };
  return (
    <tr>
      <td data-label={columns.name}>
        <b>{name}</b> <span className="mono t3">ats_{prefix}_…</span>
      </td>
      <td data-label={columns.created} className="t2">
        {day(new Date(createdAt))}
      </td>
      <td data-label={columns.used} className="t2">
        {lastUsedAt ? moment(lastUsedAt) : texts.never}
      </td>
      <td data-label={columns.expires} className="t2">
        <Expiry of={token} />
      </td>
      <td data-align="right">
        {can('identity:update') && (
          <Button
            size="xs"
            variant="subtle"
            aria-label={texts.revokeOf(name)}
            onClick={() =>
              ask({
                title: texts.revokeAsk(name),
                text: isLast && !isExpired(token) ? texts.revokeLast : texts.revokeText,
                verb: texts.revoke,
                withIdentity: true,
                act: revoke,
              })
            }
          >
            {texts.revoke}
          </Button>
        )}
        {dialog}
      </td>
    </tr>
  );
}

/** Creates a token. It is shown once: from the request on, the panel is left by its button, not by a stray click. */
function NewToken({ baseUrl, onClose }: { baseUrl: string; onClose: () => void }) {
  const { run, dialog } = useConfirmed();
  const [name, setName] = useState('');
  const [expires, setExpires] = useState('');
  const [token, setToken] = useState<string>();
  const texts = t.signIn.directory.tokens;
  const form = useForm(['name', 'expiresAt'], async () => {
    const expiresAt = expires ? startOf(expires).toISOString() : null;
    const made = await run(() => api.POST(`${DIRECTORY}/tokens`, { body: { name: name.trim(), expiresAt } }));
    if (made?.data?.token) setToken(made.data.token);
    if (made) void refetch(DIRECTORY);
  });
  const isLocked = form.busy || token !== undefined;
  return (
    <Panel
      title={token ? texts.created : texts.create}
      onClose={onClose}
      closeOnClickOutside={false}
      closeOnEscape={!isLocked}
      withCloseButton={!isLocked}
    >
      {token ? (
        <Created token={token} baseUrl={baseUrl} onClose={onClose} />
      ) : (
        <FormBody
          form={form}
          verb={texts.create}
          isReady={name.trim() !== ''}
          cancel={{ label: t.actions.cancel, onClick: onClose }}
        >
          <TextInput
            label={texts.name}
            description={texts.nameHelp}
            value={name}
            error={form.errors.name}
            autoComplete="off"
            data-autofocus
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TextInput
            type="date"
            label={`${texts.expires} ${t.forms.optional}`}
            description={texts.expiresHelp}
            min={nextDay(today())}
            value={expires}
            error={form.errors.expiresAt}
            onChange={(event) => setExpires(event.currentTarget.value)}
          />
        </FormBody>
      )}
      {dialog}
    </Panel>
  );
}

function Created({ token, baseUrl, onClose }: { token: string; baseUrl: string; onClose: () => void }) {
  const { tokens: texts, address, copyAddress } = t.signIn.directory;
  const shown = useRef<HTMLDivElement>(null);
  // The form that had the focus is gone. No button gets it: Enter, pressed twice, would close the panel.
  useEffect(() => shown.current?.focus(), []);
  return (
    <div ref={shown} tabIndex={-1} className={css.form}>
      <p className="t2">{texts.createdText}</p>
      <CopyList
        items={[
          { name: address, value: baseUrl, copy: copyAddress },
          { name: texts.token, value: token, copy: texts.copyToken },
        ]}
      />
      <div className={css.buttons}>
        <Button onClick={onClose}>{texts.done}</Button>
      </div>
    </div>
  );
}
