import { Button, type ButtonProps, TextInput } from '@mantine/core';
import { IconFingerprint } from '@tabler/icons-react';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { api } from '../api/client';
import type { Reason } from '../api/demands';
import { hasPasskeys, offerPasskeys, type SignedIn, signInByPasskey } from '../api/passkeys';
import { Problem } from '../api/problem';
import { queries } from '../api/query';
import { domainOf, lastStart, offerQuery, rememberStart, type Start } from '../api/sso';
import { CodeInput } from '../parts/CodeInput';
import { t } from '../texts';
import { PasswordInput, useForm } from './frame';
import css from './gate.module.css';
import { leaveFor, SsoInWindow, SsoLink } from './Sso';
import { useOffer } from './useOffer';
import { waysOf } from './ways';

type Methods = NonNullable<Problem['more']['methods']>;
/** The second step of a sign-in. */
type Challenge = { challenge: string; methods: Methods; expiresAt?: string };
/** Who signed in, whichever the way. */
type WhoSignedIn = Pick<SignedIn, 'user'>;

/** On the sign-in page, or over a page where it is known who signs in. */
type Place =
  | {
      email?: undefined;
      /** The page that single sign-on leads to. */
      next: string;
    }
  | {
      email: string;
      /** Why the session does not do; none if it has ended. */
      reason?: Reason;
      /** The connections to sign in by, where the server named them. */
      starts?: Start[];
    };

type Props = Place & {
  verb: string;
  onSignedIn: (signedIn: WhoSignedIn) => Promise<unknown>;
  /** Called when the second step begins and ends. */
  onStep?: (step: 'password' | 'code') => void;
  below?: ReactNode;
};

/** Signs in by single sign-on, by password, with a code where the account has an authenticator app, or by a passkey. */
export function SignInForm({ verb, onSignedIn, onStep, below, ...place }: Props) {
  const { email } = place;
  const [challenge, setChallenge] = useState<Challenge>();
  const [isDone, setDone] = useState(false);
  const isGate = email === undefined;

  async function finish(signedIn: WhoSignedIn) {
    setDone(true);
    try {
      await onSignedIn(signedIn);
    } catch (error) {
      setDone(false);
      throw error;
    }
  }
  /** Finishes a sign-in by credentials of the account. */
  async function finishOwn(signedIn: WhoSignedIn) {
    if (isGate) rememberStart(undefined);
    await finish(signedIn);
  }

  const form = useForm(['email', 'password'], async (values) => {
    const password = values.password ?? '';
    try {
      const { data } = await api.POST('/v1/auth/login', { body: { email: email ?? values.email ?? '', password } });
      if (data) await finishOwn(data);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'second_factor_required') throw error;
      const { challenge = '', methods = [], expiresAt } = error.more;
      setChallenge({ challenge, methods, expiresAt });
      onStep?.('code');
    }
  });
  const passkeys = usePasskeys({
    isPaused: form.busy || challenge !== undefined || isDone,
    isAutofilled: isGate,
    finish: finishOwn,
    form,
  });
  const typed = (email ?? form.values.email ?? '').trim();
  const sso = useSso(place, typed);

  if (challenge)
    return (
      <CodeStep
        challenge={challenge}
        size={isGate ? 'lg' : 'sm'}
        verb={verb}
        finish={finishOwn}
        onBack={(why) => {
          setChallenge(undefined);
          onStep?.('password');
          if (why) form.fail(new Error(why));
        }}
      />
    );
  const size = isGate ? 'lg' : 'sm';
  const bySso = <SsoWays {...sso} place={place} typed={typed} onDone={finish} />;
  return (
    <form onSubmit={form.submit} className={css.form}>
      {sso.isFirst && bySso}
      {place.email === undefined && (
        <EmailInput {...form.field('email')} next={place.next} isOtherWay={sso.isOtherWay} onBlur={sso.lookUp} />
      )}
      {!sso.isFirst && bySso}
      {!sso.isOnly && (
        <PasswordInput
          label={isGate ? t.gate.password : `${t.expired.password} (${email})`}
          autoComplete="current-password"
          required
          withAsterisk={false}
          data-autofocus={!isGate || undefined}
          {...form.field('password')}
          size={size}
        />
      )}
      {form.problem}
      {sso.isOnly ? (
        <button type="button" className="plain link" onClick={sso.chooseOtherWay}>
          {t.gate.sso.otherWay}
        </button>
      ) : (
        <>
          <Button type="submit" size={size} loading={form.busy || isDone}>
            {verb}
          </Button>
          {passkeys.isAvailable && <PasskeyButton size={size} loading={passkeys.isBusy} onClick={() => void passkeys.signIn()} />}
        </>
      )}
      {!(isGate && sso.isOnly) && below}
    </form>
  );
}

/** The connections that the form offers, and what they leave of the other ways. */
function useSso(place: Place, typed: string) {
  const named = place.email === undefined ? undefined : place.starts;
  const { offer, lookUp } = useOffer(named ? '' : typed);
  const [last] = useState(() => (place.email === undefined ? lastStart() : undefined));
  const [isOtherWay, setOtherWay] = useState(false);
  const { sso, isFirst, isOnly } = waysOf({ offer, last, isOtherWay });
  const starts = named ?? (sso ? [sso] : []);
  return { starts, isFirst, isOnly, isOtherWay, lookUp, chooseOtherWay: () => setOtherWay(true) };
}

type SsoProps = {
  starts: Start[];
  isOnly: boolean;
  place: Place;
  typed: string;
  onDone: (signedIn: WhoSignedIn) => Promise<unknown>;
};

/** The connections, apart from the other ways. */
function SsoWays({ starts, isOnly, place, typed, onDone }: SsoProps) {
  const area = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The field that had the focus may be gone.
    if (isOnly && document.activeElement === document.body) area.current?.querySelector<HTMLElement>('a, button')?.focus();
  }, [isOnly]);
  if (starts.length === 0) return null;
  return (
    <div ref={area} className={css.sso}>
      {isOnly && (
        <p className="t2" role="status">
          {t.gate.sso.required(starts[0]?.name ?? '')}
        </p>
      )}
      {starts.map((start) =>
        place.email === undefined ? (
          <SsoLink key={start.startUrl} start={start} next={place.next} email={typed} isMain={isOnly} />
        ) : (
          <SsoInWindow
            key={start.startUrl}
            start={start}
            email={place.email}
            reason={place.reason}
            isMain={isOnly}
            onDone={onDone}
          />
        ),
      )}
      {!isOnly && <p className={css.or}>{t.gate.sso.or}</p>}
    </div>
  );
}

type EmailProps = ReturnType<ReturnType<typeof useForm>['field']> & {
  next: string;
  isOtherWay: boolean;
  onBlur: () => void;
};

/** The address of the account. Enter goes on by single sign-on where nothing else signs in, or else to the password. */
function EmailInput({ next, isOtherWay, ...field }: EmailProps) {
  async function goOn(event: KeyboardEvent<HTMLInputElement>) {
    const password = event.currentTarget.form?.elements.namedItem('password');
    const isTyped = password instanceof HTMLInputElement && password.value !== '';
    if (event.key !== 'Enter' || isTyped || !domainOf(field.value)) return;
    event.preventDefault();
    const offer = await queries.fetchQuery(offerQuery(field.value)).catch(() => null);
    if (offer?.isRequired && !isOtherWay) return leaveFor(offer, next, field.value.trim());
    if (password instanceof HTMLInputElement) password.focus();
  }
  return (
    <TextInput
      label={t.gate.email}
      type="email"
      autoComplete={hasPasskeys() ? 'username webauthn' : 'username'}
      required
      withAsterisk={false}
      autoFocus
      onKeyDown={(event) => void goOn(event)}
      {...field}
    />
  );
}

function PasskeyButton(props: Pick<ButtonProps, 'size' | 'loading'> & { onClick: () => void }) {
  return (
    <Button variant="default" leftSection={<IconFingerprint size={18} stroke={1.6} />} {...props}>
      {t.gate.passkey}
    </Button>
  );
}

type PasskeyProps = {
  isPaused: boolean;
  isAutofilled: boolean;
  finish: (signedIn: SignedIn) => Promise<unknown>;
  form: Pick<ReturnType<typeof useForm>, 'fail' | 'clear'>;
};

/** Passkeys in the autofill and by a button; one aborts the other, as a browser has one request at a time. */
function usePasskeys({ isPaused, isAutofilled, finish, form }: PasskeyProps) {
  const [isAvailable, setAvailable] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const isOffering = !isPaused && !isBusy;
  const latest = useRef({ finish, form });
  latest.current = { finish, form };
  useEffect(() => {
    if (!isOffering) return;
    const stop = new AbortController();
    void offerPasskeys(stop.signal, isAutofilled, {
      onAvailable: () => setAvailable(true),
      onSignedIn: (signedIn) => latest.current.finish(signedIn),
      onProblem: (problem) => latest.current.form.fail(problem),
    });
    return () => stop.abort();
  }, [isOffering, isAutofilled]);

  async function signIn() {
    setBusy(true);
    form.clear();
    try {
      await finish(await signInByPasskey());
    } catch (error) {
      form.fail(error);
    } finally {
      setBusy(false);
    }
  }
  return { isAvailable, isBusy, signIn };
}

type StepProps = {
  challenge: Challenge;
  size: 'sm' | 'lg';
  verb: string;
  finish: (signedIn: SignedIn) => Promise<unknown>;
  onBack: (why?: string) => void;
};

/** Asks for the code of the authenticator app, or for a recovery code. */
function CodeStep({ challenge: { challenge, methods, expiresAt }, size, verb, finish, onBack }: StepProps) {
  const [isRecovery, setRecovery] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const form = useForm(['code'], async ({ code = '' }) => {
    if (expiresAt && Date.parse(expiresAt) < Date.now()) return onBack(t.gate.codeExpired);
    try {
      const { data } = await api.POST('/v1/auth/login/second-factor', { body: { challenge, code: code.trim() } });
      if (data) await finish(data);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.code === 'invalid_second_factor')
        throw new Problem(error.status, error.code, error.message, [{ field: 'code', message: error.message }]);
      if (error.status === 410 || error.status === 401) return onBack(t.gate.codeExpired);
      throw error;
    }
  });
  async function signIn() {
    form.clear();
    setBusy(true);
    try {
      await finish(await signInByPasskey());
    } catch (error) {
      form.fail(error);
    } finally {
      setBusy(false);
    }
  }
  const change = () => {
    setRecovery(!isRecovery);
    form.reset();
  };
  return (
    <form onSubmit={form.submit} className={css.form}>
      <CodeInput
        key={String(isRecovery)}
        isRecovery={isRecovery}
        required
        withAsterisk={false}
        autoFocus
        {...form.field('code')}
        size={size}
      />
      {form.problem}
      <Button type="submit" size={size} loading={form.busy}>
        {verb}
      </Button>
      {methods.includes('passkey') && hasPasskeys() && (
        <PasskeyButton size={size} loading={isBusy} onClick={() => void signIn()} />
      )}
      <div className={css.links}>
        {methods.includes('recovery') && (
          <button type="button" className="plain link" onClick={change}>
            {isRecovery ? t.gate.useApp : t.gate.useRecovery}
          </button>
        )}
        <button type="button" className="plain link" onClick={() => onBack()}>
          {t.gate.backToPassword}
        </button>
      </div>
    </form>
  );
}
