import { Button } from '@mantine/core';
import { IconLogin2 } from '@tabler/icons-react';
import { useState } from 'react';
import { api } from '../api/client';
import type { Reason } from '../api/demands';
import { words } from '../api/problem';
import { current, type Session } from '../api/session';
import { rememberStart, type Start, startAddress } from '../api/sso';
import { ProblemText } from '../parts/ProblemText';
import { CLOSING_PAGE, useSsoWindow } from '../parts/ssoWindow';
import { t } from '../texts';
import css from './gate.module.css';

const ICON = <IconLogin2 size={18} stroke={1.6} />;
const label = ({ name }: Start) => (name ? t.gate.sso.continue(name) : t.gate.sso.unnamed);

/** Leaves for the identity provider, which leads back to a page of the console. */
export function leaveFor(start: Start, next: string, email: string) {
  rememberStart(start);
  location.assign(startAddress(start, next, email));
}

type LinkProps = { start: Start; next: string; email: string; isMain: boolean };

/** Leads from the sign-in page to the identity provider. */
export function SsoLink({ start, next, email, isMain }: LinkProps) {
  return (
    <Button
      component="a"
      href={startAddress(start, next, email)}
      onClick={() => rememberStart(start)}
      size="lg"
      variant={isMain ? 'filled' : 'default'}
      leftSection={ICON}
    >
      {label(start)}
    </Button>
  );
}

/** The session, once it no longer lacks what the organization demands. */
async function sessionWithout(reason: Reason | undefined): Promise<Session | undefined> {
  const { data } = await api.GET('/v1/auth/session');
  return data && (reason === undefined || current(data)?.unmet !== reason) ? data : undefined;
}

type WindowProps = {
  start: Start;
  email: string;
  /** Why the session does not do; none if it has ended. */
  reason?: Reason;
  isMain: boolean;
  onDone: (session: Session) => Promise<unknown>;
};

/** Signs in at the identity provider in a window of its own, so that what was typed in the page stays. */
export function SsoInWindow({ start, email, reason, isMain, onDone }: WindowProps) {
  const trips = useSsoWindow();
  const [isAway, setAway] = useState(false);
  const [problem, setProblem] = useState<string>();

  async function go() {
    setAway(true);
    setProblem(undefined);
    try {
      const isDone = async () => (await sessionWithout(reason)) !== undefined;
      if (!(await trips.run({ address: async () => startAddress(start, CLOSING_PAGE, email), isDone }))) return;
      const session = await sessionWithout(reason);
      if (session) await onDone(session);
    } catch (error) {
      setProblem(words(error));
    } finally {
      setAway(false);
    }
  }

  const again = () => void trips.again().catch((error) => setProblem(words(error)));

  return (
    <div className={css.sso}>
      <Button
        type="button"
        variant={isMain ? 'filled' : 'default'}
        leftSection={ICON}
        loading={isAway}
        data-autofocus={isMain || undefined}
        onClick={() => void go()}
      >
        {label(start)}
      </Button>
      {isAway && (
        <p className="t2" role="status">
          {t.security.sso.away(start.name || t.gate.sso.provider)}
        </p>
      )}
      <ProblemText>{problem}</ProblemText>
      {(isAway || problem) && (
        <div className={css.links}>
          {isAway && (
            <button type="button" className="plain link" onClick={again}>
              {t.security.sso.again}
            </button>
          )}
          <a className="link" href={startAddress(start, location.pathname + location.search, email)}>
            {t.gate.sso.here}
          </a>
        </div>
      )}
    </div>
  );
}
