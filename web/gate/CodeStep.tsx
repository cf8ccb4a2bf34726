import { Button } from '@mantine/core';
import { useState } from 'react';
import { api } from '../api/client';
import { hasPasskeys, type SignedIn } from '../api/passkeys';
import { Problem } from '../api/problem';
import { CodeInput } from '../parts/CodeInput';
import { t } from '../texts';
import { useForm } from './frame';
import css from './gate.module.css';
import { PasskeyButton, usePasskey } from './passkeys';

/** The second step of a sign-in, with the ways that can do it. */
export type Challenge = Required<Pick<Problem['more'], 'challenge' | 'methods'>>;

type Props = {
  challenge: Challenge;
  size: 'sm' | 'lg';
  verb: string;
  finish: (signedIn: SignedIn) => Promise<unknown>;
  onBack: (why?: string) => void;
};

/** Asks for the code of the authenticator app, or for a recovery code. */
export function CodeStep({ challenge: { challenge, methods }, size, verb, finish, onBack }: Props) {
  const [isRecovery, setRecovery] = useState(false);
  const form = useForm(['code'], async ({ code = '' }) => {
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
  const passkey = usePasskey({ finish, form });
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
      {methods.includes('passkey') && hasPasskeys() && <PasskeyButton size={size} of={passkey} />}
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
