import { Button } from '@mantine/core';
import { $api } from '../../api/client';
import { useMe } from '../../api/session';
import { Field } from '../../parts/Field';
import { moment } from '../../parts/format';
import { Panel } from '../../parts/Panel';
import { ServerText } from '../../parts/ServerText';
import { StatusPill } from '../../parts/StatusPill';
import { failureWords } from '../../parts/ssoFailures';
import { t } from '../../texts';
import { Fetched } from '../Section';
import css from '../settings.module.css';
import { type Connection, resultOf, roleOf, type SsoSignIn } from './sso';

type Props = {
  connection: Connection;
  /** The id of the attempt. */
  signIn: string;
  onEnable: () => void;
  onClose: () => void;
};

/** The result of a test: the claims that were received, and what a real sign-in would do with them. */
export function TestResult({ connection, signIn, onEnable, onClose }: Props) {
  const { can } = useMe();
  const params = { path: { connectionId: connection.id } };
  const signIns = $api.useQuery('get', '/v1/organization/sso-connections/{connectionId}/sign-ins', { params });
  const texts = t.signIn.sso.result;
  return (
    <Panel title={texts.title(connection.name)} onClose={onClose} isWide>
      <Fetched of={signIns}>
        {({ data }) => {
          const found = data.find(({ id }) => id === signIn);
          if (!found) return <p className="t2">{texts.gone}</p>;
          const isPassed = found.result === 'signed_in';
          return (
            <>
              <Verdict connection={connection} signIn={found} />
              {isPassed && !connection.isEnabled && can('identity:update') && (
                <div className={css.buttons}>
                  <Button aria-label={t.signIn.sso.enableOf(connection.name)} onClick={onEnable}>
                    {t.signIn.sso.enable}
                  </Button>
                </div>
              )}
              <Claims claims={found.claims} />
              <p className="t3">{texts.close}</p>
            </>
          );
        }}
      </Fetched>
    </Panel>
  );
}

function Verdict({ connection, signIn }: { connection: Connection; signIn: SsoSignIn }) {
  const { result, reason, email, subject, groupCount, at } = signIn;
  const texts = t.signIn.sso.result;
  const isPassed = result === 'signed_in';
  return (
    <section className={css.part}>
      <h3>
        <StatusPill {...resultOf(signIn)} />
      </h3>
      {isPassed ? (
        <p className="t2">{texts.passedText}</p>
      ) : (
        <p className="t2">{texts.advice[result] ?? failureWords(result).advice}</p>
      )}
      {reason && (
        <p>
          <ServerText>{reason}</ServerText>
        </p>
      )}
      <dl>
        <Field name="at" label={texts.at} kind="text" value={null}>
          {moment(at)}
        </Field>
        <Field name="email" label={texts.email} kind="text" value={null}>
          {email}
        </Field>
        <Field name="subject" label={texts.subject} kind="text" value={null}>
          {subject}
        </Field>
        <Field name="groups" label={texts.groups} kind="text" value={null}>
          {groupCount === null ? texts.noGroups : texts.groupCount(groupCount)}
        </Field>
        {subject && (
          <Field name="role" label={texts.role} kind="text" value={null}>
            {roleOf(connection, signIn)}
          </Field>
        )}
      </dl>
    </section>
  );
}

function Claims({ claims }: { claims: SsoSignIn['claims'] }) {
  const texts = t.signIn.sso.result;
  if (!claims) return null;
  return (
    <table className={css.table}>
      <caption className="hidden-visually">{texts.claims}</caption>
      <thead>
        <tr>
          <th scope="col">{texts.claim}</th>
          <th scope="col">{texts.value}</th>
        </tr>
      </thead>
      <tbody>
        {Object.entries(claims).map(([name, value]) => (
          <tr key={name}>
            <td className="mono">{name}</td>
            {value === null ? (
              <td className="t3">{texts.notStored}</td>
            ) : (
              <td className="mono">{typeof value === 'string' ? value : JSON.stringify(value)}</td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
