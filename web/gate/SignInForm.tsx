import { Button, type ButtonProps, TextInput } from '@mantine/core';
import { IconFingerprint } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { api } from '../api/client';
import { hasPasskeys, offerPasskeys, type SignedIn, signInByPasskey } from '../api/passkeys';
import { Problem } from '../api/problem';
import { CodeInput } from '../parts/CodeInput';
import { t } from '../texts';
import { PasswordInput, useForm } from './frame';
import css from './gate.module.css';

type Methods = NonNullable<Problem['more']['methods']>;
/** The second step of a sign-in. */
type Challenge = { challenge: string; methods: Methods; expiresAt?: string };

type Props = {
  /** The account, where it is known who signs in. */
  email?: string;
  verb: string;
  onSignedIn: (signedIn: SignedIn) => Promise<unknown>;
  /** Called when the second step begins and ends. */
  onStep?: (step: 'password' | 'code') => void;
  below?: ReactNode;
};

/** Signs in by password, with a code where the account has an authenticator app, or by a passkey. */
export function SignInForm({ email, verb, onSignedIn, onStep, below }: Props) {
  const [challenge, setChallenge] = useState<Challenge>();
  const [isDone, setDone] = useState(false);
  const isGate = email === undefined;

  async function finish(signedIn: SignedIn) {
    setDone(true);
    try {
      await onSignedIn(signedIn);
    } catch (error) {
      setDone(false);
      throw error;
    }
  }

  const form = useForm(['email', 'password'], async (values) => {
    const password = values.password ?? '';
    try {
      const { data } = await api.POST('/v1/auth/login', { body: { email: email ?? values.email ?? '', password } });
      if (data) await finish(data);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'second_factor_required') throw error;
      const { challenge = '', methods = [], expiresAt } = error.more;
      setChallenge({ challenge, methods, expiresAt });
      onStep?.('code');
    }
  });
  const passkeys = usePasskeys({ isPaused: form.busy || challenge !== undefined || isDone, isAutofilled: isGate, finish, form });

  if (challenge)
    return (
      <CodeStep
        challenge={challenge}
        size={isGate ? 'lg' : 'sm'}
        verb={verb}
        finish={finish}
        onBack={(why) => {
          setChallenge(undefined);
          onStep?.('password');
          if (why) form.fail(new Error(why));
        }}
      />
    );
  const size = isGate ? 'lg' : 'sm';
  return (
    <form onSubmit={form.submit} className={css.form}>
      {isGate && (
        <TextInput
          label={t.gate.email}
          type="email"
          autoComplete={hasPasskeys() ? 'username webauthn' : 'username'}
          required
          withAsterisk={false}
          autoFocus
          {...form.field('email')}
        />
      )}
      <PasswordInput
        label={isGate ? t.gate.password : `${t.expired.password} (${email})`}
        autoComplete="current-password"
        required
        withAsterisk={false}
        data-autofocus={!isGate || undefined}
        {...form.field('password')}
        size={size}
      />
      {form.problem}
      <Button type="submit" size={size} loading={form.busy || isDone}>
        {verb}
      </Button>
      {passkeys.isAvailable && <PasskeyButton size={size} loading={passkeys.isBusy} onClick={() => void passkeys.signIn()} />}
      {below}
    </form>
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
