import { Button } from '@mantine/core';
import { useState } from 'react';
import { $api, api, type Schemas } from '../../api/client';
import { words } from '../../api/problem';
import { refetch } from '../../api/query';
import { useMe } from '../../api/session';
import { CopyList } from '../../parts/CopyList';
import { useConfirm } from '../../parts/confirm';
import { Field } from '../../parts/Field';
import { moment } from '../../parts/format';
import { Panel } from '../../parts/Panel';
import { roleWords } from '../../parts/roles';
import { ServerText } from '../../parts/ServerText';
import { StatusPill } from '../../parts/StatusPill';
import { toast } from '../../parts/toast';
import { t } from '../../texts';
import { Fetched } from '../Section';
import css from '../settings.module.css';
import { ConnectionForm } from './ConnectionForm';
import { CONNECTIONS } from './queries';
import { type Connection, resultOf, type SsoSignIn } from './sso';

type Props = {
  /** None for a connection to add. */
  known?: Connection;
  onClose: () => void;
  onCreated?: (made: Connection) => void;
};

/** A connection: the addresses to register at the provider, its settings, and its recent sign-ins. */
export function ConnectionPanel({ known, onClose, onCreated }: Props) {
  const { can } = useMe();
  const texts = t.signIn.sso;
  const mayChange = can('identity:update');
  return (
    <Panel title={known ? known.name : texts.add} onClose={onClose} isWide>
      {known && <Addresses of={known} />}
      {known && mayChange && <Check id={known.id} />}
      {mayChange ? <ConnectionForm known={known} onClose={onClose} onCreated={onCreated} /> : known && <Shown of={known} />}
      {known && <SignIns id={known.id} />}
      {known && mayChange && <Delete connection={known} onClose={onClose} />}
    </Panel>
  );
}

function Addresses({ of: { redirectUri, startUrl, postLogoutRedirectUri, backChannelLogoutUri, provider } }: { of: Connection }) {
  const texts = t.signIn.sso.addresses;
  const all = [
    { name: texts.redirect, address: redirectUri },
    { name: texts.start, address: startUrl },
    ...(provider?.hasSignOut ? [{ name: texts.signedOut, address: postLogoutRedirectUri }] : []),
    ...(provider?.hasBackChannelLogout ? [{ name: texts.backChannel, address: backChannelLogoutUri }] : []),
  ];
  return (
    <section className={css.part}>
      <h3>{texts.title}</h3>
      <p className="t2">{texts.lead}</p>
      <CopyList items={all.map(({ name, address }) => ({ name, value: address, copy: texts.copy(name) }))} />
    </section>
  );
}

/** Asks the provider, and shows the steps that succeeded and the one that failed. */
function Check({ id }: { id: string }) {
  const [found, setFound] = useState<Schemas['SsoCheck']>();
  const [busy, setBusy] = useState(false);
  const texts = t.signIn.sso.check;

  async function check() {
    setBusy(true);
    try {
      const { data } = await api.POST('/v1/organization/sso-connections/{connectionId}/check', {
        params: { path: { connectionId: id } },
      });
      setFound(data);
      await refetch(CONNECTIONS);
    } catch (problem) {
      toast(words(problem), { bad: true });
    } finally {
      setBusy(false);
    }
  }

  return (
    <section className={css.part}>
      <div className={css.head}>
        <div>
          <h3>{texts.title}</h3>
          <p className="t2">{texts.lead}</p>
        </div>
        <div className={css.actions}>
          <Button variant="default" loading={busy} onClick={() => void check()}>
            {texts.verb}
          </Button>
        </div>
      </div>
      <ul aria-live="polite" className={css.checks}>
        {found?.steps.map(({ name, isOk, detail }) => (
          <li key={name}>
            <StatusPill label={texts.steps[name] ?? name} tone={isOk ? 'ok' : 'bad'} shape={isOk ? 'check' : 'cross'} />
            <span className={css.answer}>
              <ServerText>{detail}</ServerText>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The settings of a connection for readers who cannot change them. */
function Shown({ of: known }: { of: Connection }) {
  const texts = t.signIn.sso.fields;
  const flag = (isOn: boolean) => (isOn ? t.filters.yes : t.filters.no);
  const fields: [name: string, label: string, value: string][] = [
    ['issuer', texts.issuer, known.issuer],
    ['clientId', texts.clientId, known.clientId],
    ['clientSecret', texts.clientSecret, known.hasClientSecret ? texts.isSet : texts.isPublic],
    ['scopes', texts.scopes, known.scopes.join(' ')],
    ['emailClaim', texts.emailClaim, known.emailClaim],
    ['groupsClaim', texts.groupsClaim, known.groupsClaim],
    ['addsMembers', texts.addsMembers, flag(known.addsMembers)],
    ['defaultRole', texts.defaultRole, roleWords(known.defaultRole)],
    ['roleSync', texts.roleSync, texts.roleSyncs[known.roleSync]],
    ['groupRoles', texts.groupRoles, known.groupRoles.map(({ group, role }) => `${group}: ${roleWords(role)}`).join('; ')],
    ['requiresGroup', texts.requiresGroup, flag(known.requiresGroup)],
    ['signsOutAtProvider', texts.signsOutAtProvider, flag(known.signsOutAtProvider)],
  ];
  return (
    <dl className={css.part}>
      {fields.map(([name, label, value]) => (
        <Field key={name} name={name} label={label} kind="text" value={null}>
          {value}
        </Field>
      ))}
    </dl>
  );
}

const FEW = 10;

function SignIns({ id }: { id: string }) {
  const params = { path: { connectionId: id } };
  const signIns = $api.useQuery('get', '/v1/organization/sso-connections/{connectionId}/sign-ins', { params });
  const [isAll, setAll] = useState(false);
  const texts = t.signIn.sso.signIns;
  return (
    <section className={css.part}>
      <h3>{texts.title}</h3>
      <Fetched of={signIns}>
        {({ data }) => (
          <>
            {data.length === 0 && <p className="t3">{texts.none}</p>}
            <ul className={css.checks}>
              {(isAll ? data : data.slice(0, FEW)).map((one) => (
                <SignIn key={one.id} signIn={one} />
              ))}
            </ul>
            {!isAll && data.length > FEW && (
              <Button variant="subtle" size="xs" onClick={() => setAll(true)}>
                {texts.all(data.length)}
              </Button>
            )}
          </>
        )}
      </Fetched>
    </section>
  );
}

function SignIn({ signIn }: { signIn: SsoSignIn }) {
  const { at, isTest, email, subject, reason, requestId } = signIn;
  const texts = t.signIn.sso.signIns;
  return (
    <li>
      <StatusPill {...resultOf(signIn)} />
      <span className={css.answer}>
        {moment(at)} · {email ?? subject ?? texts.unknown}
        {isTest && ` · ${texts.test}`}
      </span>
      {reason && (
        <span className={css.answer}>
          <ServerText>{reason}</ServerText> <span className="t3">{t.problems.reference(requestId)}</span>
        </span>
      )}
    </li>
  );
}

function Delete({ connection: { id, name }, onClose }: { connection: Connection; onClose: () => void }) {
  const { ask, dialog } = useConfirm();
  const texts = t.signIn.sso;
  const remove = async () => {
    await api.DELETE('/v1/organization/sso-connections/{connectionId}', { params: { path: { connectionId: id } } });
    onClose();
    await refetch(CONNECTIONS, '/v1/auth/security', '/v1/people');
    toast(texts.deleted(name));
  };
  return (
    <div className={css.part}>
      <Button
        variant="default"
        className={css.danger}
        onClick={() =>
          ask({ title: texts.deleteAsk(name), text: texts.deleteText, verb: texts.delete, withIdentity: true, act: remove })
        }
      >
        {texts.delete}
      </Button>
      {dialog}
    </div>
  );
}
