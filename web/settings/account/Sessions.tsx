import { Button } from '@mantine/core';
import { $api, api, type Schemas } from '../../api/client';
import { words } from '../../api/problem';
import { refetch } from '../../api/query';
import { browser } from '../../parts/browser';
import { moment } from '../../parts/format';
import { StatusPill } from '../../parts/StatusPill';
import { signOut } from '../../parts/signOut';
import { toast } from '../../parts/toast';
import { t } from '../../texts';
import { Fetched, Head, Section } from '../Section';
import css from '../settings.module.css';

type Session = Schemas['Session'];
const PATH = '/v1/auth/sessions';

/** The sessions of the account, which can be ended here. */
export function Sessions() {
  const sessions = $api.useQuery('get', PATH);
  const texts = t.settings.sessions;
  const others = sessions.data?.data.filter(({ isCurrent }) => !isCurrent) ?? [];

  async function end(which: Session[]) {
    try {
      for (const { id } of which) await api.DELETE('/v1/auth/sessions/{id}', { params: { path: { id } } });
      toast(texts.ended(which.length));
    } catch (problem) {
      toast(words(problem), { bad: true });
    } finally {
      await refetch(PATH);
    }
  }

  return (
    <Section
      title={texts.title}
      lead={texts.lead}
      actions={
        others.length > 1 && (
          <Button variant="default" onClick={() => void end(others)}>
            {texts.endOthers}
          </Button>
        )
      }
    >
      <Fetched of={sessions}>
        {({ data }) => (
          <table className={css.table}>
            <caption className="hidden-visually">{texts.title}</caption>
            <Head columns={[texts.columns.browser, texts.columns.address, texts.columns.started, texts.columns.used]} />
            <tbody>
              {data.map((session) => (
                <Line key={session.id} session={session} onEnd={() => void (session.isCurrent ? signOut() : end([session]))} />
              ))}
            </tbody>
          </table>
        )}
      </Fetched>
    </Section>
  );
}

/** "Password, authenticator app" */
function methodWords({ method, secondFactor }: Pick<Session, 'method' | 'secondFactor'>): string {
  const { methods, factors } = t.settings.sessions;
  const factor = secondFactor && secondFactor !== method ? [factors[secondFactor]] : [];
  return [methods[method], ...factor].join(', ');
}

function Line({ session, onEnd }: { session: Session; onEnd: () => void }) {
  const texts = t.settings.sessions;
  const name = browser(session.userAgent) ?? texts.unknown;
  return (
    <tr>
      <td data-label={texts.columns.browser} title={session.userAgent ?? undefined}>
        <b>{name}</b> {session.isCurrent && <StatusPill label={texts.current} tone="info" shape="check" />}
        <span className={css.answer}>{methodWords(session)}</span>
      </td>
      <td data-label={texts.columns.address} className="mono">
        {session.ip ?? t.edits.none}
      </td>
      <td data-label={texts.columns.started} className="t2">
        {moment(session.createdAt)}
      </td>
      <td data-label={texts.columns.used} className="t2">
        {moment(session.lastSeenAt)}
      </td>
      <td data-align="right">
        <Button size="xs" variant="default" onClick={onEnd} aria-label={session.isCurrent ? undefined : texts.endNamed(name)}>
          {session.isCurrent ? texts.signOut : texts.end}
        </Button>
      </td>
    </tr>
  );
}
