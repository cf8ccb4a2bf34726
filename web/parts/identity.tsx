import { PasswordInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { $api, api } from '../api/client';
import { confirmByPasskey, hasPasskeys, passkeyWords } from '../api/passkeys';
import { Problem } from '../api/problem';
import { refetch } from '../api/query';
import { t } from '../texts';
import { CodeInput } from './CodeInput';
import css from './Dialog.module.css';

const PATH = '/v1/auth/confirm' as const;

/** When users confirm that it is them: each time, unless they did so within ten minutes, or never. */
export type Need = 'always' | 'unless confirmed' | 'never';

type Options = {
  /** Only ways that give the session a second factor. */
  isSecondFactor?: boolean;
};

export const isUnconfirmed = (error: unknown) => error instanceof Problem && error.code === 'confirmation_required';

/** The part of a dialog in which users confirm that it is them: by a passkey, or by the password and a code. */
export function useIdentity(need: Need, { isSecondFactor = false }: Options = {}) {
  const known = $api.useQuery('get', PATH, {}, { enabled: need !== 'never', staleTime: 0, retry: false });
  const [chosen, setChosen] = useState<'passkey' | 'password'>();
  const [isRefused, setRefused] = useState(false);
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [problem, setProblem] = useState<string>();

  const { methods, needsCode = false, isConfirmed, confirmedUntil } = known.data ?? {};
  const hasPasskey = methods?.includes('passkey') === true && hasPasskeys();
  const hasPassword = isSecondFactor ? needsCode : (methods?.includes('password') ?? true);
  const way = chosen ?? (hasPasskey ? 'passkey' : 'password');
  const withCode = needsCode || errors.code !== undefined;
  const isFresh = isConfirmed === true && !!confirmedUntil && Date.parse(confirmedUntil) > Date.now();
  const isAsked = need === 'always' || (need === 'unless confirmed' && (isRefused || !isFresh));
  const isKnown = need === 'never' || !known.isPending;

  /** Confirms the session; false if it was refused, which the fields then say. */
  async function confirm(): Promise<boolean> {
    if (!isAsked) return true;
    setErrors({});
    setProblem(undefined);
    try {
      if (way === 'passkey') await confirmByPasskey();
      else await api.POST(PATH, { body: { password, ...(withCode && { code: code.replace(/\s/g, '') }) } });
    } catch (error) {
      const isCode = error instanceof Problem && error.code === 'invalid_second_factor';
      const found = error instanceof Problem ? error.fields() : {};
      setErrors(isCode ? { code: error.message } : found);
      if (!isCode && !found.password && !found.code) setProblem(passkeyWords(error));
      return false;
    }
    setRefused(false);
    // The session now has a second factor.
    void refetch(PATH, ...(way === 'passkey' || withCode ? ['/v1/auth/sessions', 'session'] : []));
    return true;
  }

  /** Asks for a confirmation that has run out meanwhile; false for any other failure. */
  function refuse(error: unknown): boolean {
    if (need === 'never' || isAsked || !isUnconfirmed(error)) return false;
    setRefused(true);
    return true;
  }

  function reset() {
    setChosen(undefined);
    setRefused(false);
    setPassword('');
    setCode('');
    setErrors({});
    setProblem(undefined);
  }

  const other = (next: typeof way, label: string) => (
    <button type="button" className="plain link" onClick={() => setChosen(next)}>
      {label}
    </button>
  );
  const byPasskey = (
    <>
      <p className="t2">{t.security.byPasskey}</p>
      {hasPassword && other('password', t.security.usePassword)}
    </>
  );
  const byPassword = (
    <>
      <PasswordInput
        label={t.dialog.password}
        description={t.dialog.passwordHelp}
        value={password}
        error={errors.password}
        autoComplete="current-password"
        visibilityToggleButtonProps={{ 'aria-label': t.gate.showPassword }}
        onChange={(event) => setPassword(event.currentTarget.value)}
        data-autofocus
        autoFocus={chosen === 'password' || isSecondFactor}
      />
      {withCode && <CodeInput value={code} error={errors.code} onChange={(event) => setCode(event.currentTarget.value)} />}
      {hasPasskey && other('passkey', t.security.usePasskey)}
    </>
  );
  const fields: ReactNode = isAsked && (
    <>
      {way === 'passkey' ? byPasskey : byPassword}
      {problem && (
        <p role="alert" className={css.problem}>
          {problem}
        </p>
      )}
    </>
  );

  return {
    fields,
    confirm,
    refuse,
    reset,
    isKnown,
    isAsked,
    /** Everything is typed that the chosen way needs. */
    isReady: !isAsked || way === 'passkey' || (password !== '' && (!withCode || code.trim() !== '')),
    /** There is a way that users can take in this browser. */
    isPossible: hasPasskey || hasPassword,
    needsCode,
    isPasskey: isAsked && way === 'passkey',
  };
}
