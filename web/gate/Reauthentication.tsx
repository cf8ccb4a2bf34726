import { Button, Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { $api } from '../api/client';
import { meet, onDemand, type Reason, ssoStart } from '../api/demands';
import { chooseOrganization } from '../api/organization';
import { words } from '../api/problem';
import { queries } from '../api/query';
import { current, sessionQuery, useMe, useSession } from '../api/session';
import { offerQuery, type Start, startsOf, startUrlOf } from '../api/sso';
import { SectionError } from '../parts/ErrorPage';
import { useIdentity } from '../parts/identity';
import { ProblemText } from '../parts/ProblemText';
import { Enrol } from '../parts/security/Enrol';
import { t } from '../texts';
import { useEscapeBlock } from './escape';
import css from './gate.module.css';
import { SignInForm } from './SignInForm';
import { SsoInWindow } from './Sso';

/**
 * Covers the page when the organization demands more of the session: another sign-in, a second factor, or to enrol one.
 * What was typed below stays, and the requests that were refused are sent again.
 */
export function Reauthentication({ onSignOut }: { onSignOut: () => void }) {
  const { user, membership } = useMe();
  const [reason, setReason] = useState<Reason>();
  // The same demand can follow a sign-in: its form then begins anew.
  const [round, setRound] = useState(0);
  const done = useRef<() => void>(undefined);
  useEscapeBlock(reason !== undefined);
  useEffect(() => {
    onDemand(
      (next) =>
        new Promise((resolve) => {
          done.current = resolve;
          setReason(next);
        }),
    );
    return () => onDemand(undefined);
  }, []);
  const unmet = membership?.unmet;
  // Nothing can be typed before the organization has opened.
  const wasOpen = useRef(false);
  if (membership && !unmet) wasOpen.current = true;
  useEffect(() => {
    if (unmet) void meet({ reason: unmet });
  }, [unmet]);

  /** Goes on if nothing is left to demand. */
  async function proceed() {
    const session = await queries.fetchQuery({ ...sessionQuery, staleTime: 0 });
    // A passkey may be of another account, which has no part in what was typed here.
    if (session.user.id !== user?.id) return location.assign('/');
    const next = current(session)?.unmet;
    setRound((last) => last + 1);
    setReason(next ?? undefined);
    if (next) return;
    done.current?.();
    await queries.invalidateQueries();
  }

  return (
    <Modal
      opened={reason !== undefined}
      onClose={() => undefined}
      withCloseButton={false}
      fullScreen
      zIndex={1000}
      transitionProps={{ duration: 0 }}
      attributes={{ content: { 'aria-label': reason && t.again.titles[reason] } }}
    >
      {reason && (
        <div className={css.page}>
          <h2>{t.again.titles[reason]}</h2>
          <p className={css.lead}>{t.again.texts[reason](membership?.name ?? '')}</p>
          {wasOpen.current && <p className="t2">{t.again.kept}</p>}
          <Ways key={`${reason} ${round}`} reason={reason} onDone={proceed} />
          <Others onSignOut={onSignOut} />
        </div>
      )}
    </Modal>
  );
}

type WaysProps = { reason: Reason; onDone: () => Promise<unknown> };

type Sso = { starts: Start[]; isOnly: boolean; error: unknown; refetch: () => unknown };

/** The connections that help a session in the current organization; undefined while they are looked up. */
function useSso(reason: Reason, email: string): Sso | undefined {
  const { membership } = useMe();
  const { data: session } = useSession();
  const startUrl = ssoStart.use();
  const confirmation = $api.useQuery('get', '/v1/auth/confirm', {}, { retry: false });
  const security = $api.useQuery('get', '/v1/auth/security', {}, { retry: false });
  const offer = useQuery(offerQuery(email));
  if (confirmation.isLoading || security.isLoading || offer.isLoading) return undefined;
  const isHere = ({ organizationId }: { organizationId: string }) => organizationId === membership?.id;
  const own = confirmation.data?.connections.filter(isHere) ?? [];
  const named = own.map(({ id, name }) => ({ name, startUrl: startUrlOf(id) }));
  const demand = security.data?.demands.find(isHere);
  const isOnly = reason === 'sso_required' || (demand?.sso === 'required' && !demand.isExempt);
  // The age of a session by other means counts from its own sign-in.
  const doesHelp = isOnly || session?.method === 'sso';
  return {
    starts: doesHelp ? startsOf(startUrl, named, offer.data) : [],
    isOnly,
    error: confirmation.error ?? security.error,
    refetch: () => Promise.all([confirmation.refetch(), security.refetch()]),
  };
}

/** The form that removes the reason. */
function Ways({ reason, onDone }: WaysProps) {
  const { user } = useMe();
  const email = user?.email ?? '';
  const sso = useSso(reason, email);
  const [isSigningIn, setSigningIn] = useState(false);
  if (reason === 'mfa_enrolment') return <Enrol onDone={onDone} />;
  if (reason === 'mfa_required' && !isSigningIn) return <SecondFactor onDone={onDone} onSignIn={() => setSigningIn(true)} />;
  if (!sso) return null;
  if (sso.isOnly) return <SsoOnly sso={sso} email={email} reason={reason} onDone={onDone} />;
  return <SignInForm email={email} reason={reason} starts={sso.starts} verb={t.expired.button} onSignedIn={onDone} />;
}

type SsoOnlyProps = WaysProps & { sso: Sso; email: string };

/** Signs in at the identity provider of the organization, where nothing else does. */
function SsoOnly({ sso: { starts, error, refetch }, email, reason, onDone }: SsoOnlyProps) {
  if (starts.length === 0 && error) return <SectionError error={error} onRetry={() => void refetch()} />;
  if (starts.length === 0) return <p>{t.again.noStart}</p>;
  return (
    <div className={css.form}>
      {starts.map((start) => (
        <SsoInWindow key={start.startUrl} start={start} email={email} reason={reason} isMain onDone={onDone} />
      ))}
    </div>
  );
}

/** Confirms with the second factor of the account, which the session then has. */
function SecondFactor({ onDone, onSignIn }: { onDone: () => Promise<unknown>; onSignIn: () => void }) {
  const identity = useIdentity('always', { isSecondFactor: true });
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();

  async function submit(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      if (await identity.confirm()) await onDone();
    } catch (error) {
      setProblem(words(error));
    } finally {
      setBusy(false);
    }
  }

  if (!identity.isKnown) return null;
  return (
    <form onSubmit={(event) => void submit(event)} className={css.form} noValidate>
      {identity.isImpossible ? <p>{t.again.elsewhere}</p> : identity.fields}
      <ProblemText>{problem}</ProblemText>
      {!identity.isImpossible && (
        <Button type="submit" size="lg" loading={busy} disabled={!identity.isReady}>
          {t.security.confirm}
        </Button>
      )}
      <button type="button" className="plain link" onClick={onSignIn}>
        {identity.needsCode ? t.again.recovery : t.again.signIn}
      </button>
    </form>
  );
}

/** The ways out: another organization, or another account. */
function Others({ onSignOut }: { onSignOut: () => void }) {
  const { data: session } = useSession();
  const { membership } = useMe();
  const others = session?.organizations.filter(({ id, unmet }) => id !== membership?.id && !unmet) ?? [];
  return (
    <div className={css.others}>
      {others.map(({ id, name }) => (
        <button
          key={id}
          type="button"
          className="plain link"
          onClick={() => {
            chooseOrganization(id);
            location.assign('/');
          }}
        >
          {t.palette.switchTo(name)}
        </button>
      ))}
      <button type="button" className="plain link" onClick={onSignOut}>
        {t.nav.signOut}
      </button>
    </div>
  );
}
