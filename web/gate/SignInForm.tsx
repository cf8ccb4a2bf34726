import { Button } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { api } from '../api/client';
import type { SignedIn } from '../api/passkeys';
import { Problem } from '../api/problem';
import { rememberStart } from '../api/sso';
import { t } from '../texts';
import { type Challenge, CodeStep } from './CodeStep';
import { EmailInput } from './EmailInput';
import { PasswordInput, useForm } from './frame';
import css from './gate.module.css';
import { PasskeyButton, usePasskeys } from './passkeys';
import { type Place, SsoWays, useSso } from './SsoWays';

/** The account that signed in, whichever the way. */
type Account = Pick<SignedIn, 'user'>;

type Props = Place & {
  verb: string;
  onSignedIn: (signedIn: Account) => Promise<unknown>;
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
  const size = isGate ? 'lg' : 'sm';

  async function finish(signedIn: Account) {
    setDone(true);
    try {
      await onSignedIn(signedIn);
    } catch (error) {
      setDone(false);
      throw error;
    }
  }
  /** Finishes a sign-in by credentials of the account. */
  async function finishOwn(signedIn: Account) {
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
      const { challenge = '', methods = [] } = error.more;
      setChallenge({ challenge, methods });
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
        size={size}
        verb={verb}
        finish={finishOwn}
        onBack={(why) => {
          setChallenge(undefined);
          onStep?.('password');
          if (why) form.fail(new Error(why));
        }}
      />
    );
  const bySso = <SsoWays starts={sso.starts} isOnly={sso.isOnly} place={place} typed={typed} onDone={finish} />;
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
          {passkeys.isAvailable && <PasskeyButton size={size} of={passkeys} />}
        </>
      )}
      {!(isGate && sso.isOnly) && below}
    </form>
  );
}
