import { PasswordInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { $api, api } from '../api/client';
import { organization } from '../api/organization';
import { confirmByPasskey, hasPasskeys, passkeyWords } from '../api/passkeys';
import type { Answer } from '../api/paths';
import { Problem, words } from '../api/problem';
import { refetch } from '../api/query';
import { t } from '../texts';
import { CodeInput } from './CodeInput';
import { ProblemText } from './ProblemText';
import { CLOSING_PAGE, useSsoWindow } from './ssoWindow';

const PATH = '/v1/auth/confirm' as const;

/** When users confirm that it is them: each time, unless they did so within ten minutes, or never. */
export type Need = 'always' | 'unless confirmed' | 'never';

type Options = {
  /** Only ways that give the session a second factor. */
  isSecondFactor?: boolean;
  /** It changes how the account signs in: single sign-on confirms that only for accounts without credentials of their own. */
  isOfAccount?: boolean;
};

type Confirmation = Answer<typeof PATH>;
type Connection = Confirmation['connections'][number];
/** A passkey, what is typed, or a connection to an identity provider. */
type Way = 'passkey' | 'password' | Connection;

export const isUnconfirmed = (error: unknown) => error instanceof Problem && error.code === 'confirmation_required';

/** The connections that can confirm the session in the current organization. */
export function confirmingConnections(known: Confirmation | undefined, { isSecondFactor, isOfAccount }: Options): Connection[] {
  const hasOwn = known?.methods.some((method) => method !== 'sso') ?? true;
  if (!known || isSecondFactor || (isOfAccount && hasOwn)) return [];
  return known.connections.filter(({ organizationId }) => organizationId === organization());
}

/** The time until which the session is confirmed, in milliseconds; 0 if it is not. */
async function confirmedUntil(): Promise<number> {
  const { data } = await api.GET(PATH);
  return data?.confirmedUntil ? Date.parse(data.confirmedUntil) : 0;
}

/** A round trip that confirms the session anew: the confirmation then ends later than before. */
function confirmation({ id }: Connection) {
  let before = Number.POSITIVE_INFINITY;
  return {
    address: async () => {
      before = Math.min(before, await confirmedUntil());
      const { data } = await api.POST('/v1/auth/sso/{connectionId}/start-ticket', {
        params: { path: { connectionId: id } },
        body: { purpose: 'confirm', next: CLOSING_PAGE },
      });
      return data?.startUrl ?? '';
    },
    isDone: async () => (await confirmedUntil()) > before,
  };
}

/** The part of a dialog in which users confirm that it is them: by a passkey, the password and a code, or single sign-on. */
export function useIdentity(need: Need, options: Options = {}) {
  const { isSecondFactor = false } = options;
  const known = $api.useQuery('get', PATH, {}, { enabled: need !== 'never', staleTime: 0, retry: false });
  const [chosen, setChosen] = useState<Way>();
  // The session was confirmed here, or the server has asked for a confirmation since.
  const [outcome, setOutcome] = useState<'fulfilled' | 'refused'>();
  const [isAway, setAway] = useState(false);
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [problem, setProblem] = useState<string>();
  const roundTrips = useSsoWindow();

  const { methods, needsCode = false, isConfirmed, isAccountConfirmed, confirmedUntil: until } = known.data ?? {};
  const hasPasskey = methods?.includes('passkey') === true && hasPasskeys();
  const hasPassword = methods?.includes('password') === true;
  // An account without a password is confirmed with the code alone.
  const isTypable = isSecondFactor ? needsCode : hasPassword || needsCode;
  const connections = confirmingConnections(known.data, options);
  const ways: Way[] = [...(hasPasskey ? ['passkey' as const] : []), ...(isTypable ? ['password' as const] : []), ...connections];
  const way = chosen ?? ways[0] ?? 'password';
  const isTyped = way === 'password';
  const withCode = needsCode || errors.code !== undefined;
  const isUntilNow = isConfirmed === true && !!until && Date.parse(until) > Date.now();
  const isFresh = options.isOfAccount ? isAccountConfirmed === true : isUntilNow;
  const isNeeded = need === 'always' || (need === 'unless confirmed' && (outcome === 'refused' || !isFresh));
  const isAsked = isNeeded && outcome !== 'fulfilled';
  const isKnown = need === 'never' || !known.isPending;
  const failure = known.data ? undefined : known.error;

  async function confirmBy(way: Way): Promise<boolean> {
    if (way === 'passkey') await confirmByPasskey();
    else if (way === 'password') {
      const body = { ...(hasPassword && { password }), ...(withCode && { code: code.replace(/\s/g, '') }) };
      await api.POST(PATH, { body });
    } else {
      setAway(true);
      return roundTrips.run(confirmation(way)).finally(() => setAway(false));
    }
    return true;
  }

  /** Confirms the session; false if it was refused, which the fields then say. */
  async function confirm(): Promise<boolean> {
    if (!isAsked) return true;
    setErrors({});
    setProblem(undefined);
    try {
      if (!(await confirmBy(way))) return false;
    } catch (error) {
      const isCode = error instanceof Problem && error.code === 'invalid_second_factor';
      const found = error instanceof Problem ? error.fields() : {};
      setErrors(isCode ? { code: error.message } : found);
      const isAtField = (hasPassword && found.password) || found.code;
      if (!isCode && !isAtField) setProblem(passkeyWords(error));
      return false;
    }
    setOutcome('fulfilled');
    // The session now has a second factor.
    const hasFactor = way === 'passkey' || (isTyped && withCode);
    void refetch(PATH, ...(hasFactor ? ['/v1/auth/sessions', 'session'] : []));
    return true;
  }

  /** Asks for a confirmation that has run out meanwhile; false if the failure is to be shown. */
  function refuse(error: unknown): boolean {
    if (need === 'never' || !isUnconfirmed(error)) return false;
    setOutcome('refused');
    return !isAsked;
  }

  const link = (label: string, act: () => void) => (
    <button key={label} type="button" className="plain link" onClick={act}>
      {label}
    </button>
  );
  const labelOf = (way: Way) => {
    if (way === 'passkey') return t.security.usePasskey;
    if (way === 'password') return hasPassword ? t.security.usePassword : t.security.useCode;
    return t.security.sso.use(way.name);
  };
  const isSame = (one: Way, other: Way) =>
    typeof one === 'string' || typeof other === 'string' ? one === other : one.id === other.id;
  const others = ways.filter((one) => !isSame(one, way)).map((one) => link(labelOf(one), () => setChosen(one)));
  const again = () => void roundTrips.again().catch((error) => setProblem(passkeyWords(error)));

  const typed = (
    <>
      {hasPassword && (
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
      )}
      {withCode && (
        <CodeInput
          value={code}
          error={errors.code}
          data-autofocus={!hasPassword || undefined}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
      )}
    </>
  );
  const pressed = (way: Exclude<Way, 'password'>) => (
    <p className="t2" role="status">
      {way === 'passkey' ? t.security.byPasskey : isAway ? t.security.sso.away(way.name) : t.security.sso.by(way.name)}
    </p>
  );
  const asked: ReactNode = failure ? (
    <>
      <ProblemText>{words(failure)}</ProblemText>
      {link(t.actions.retry, () => void known.refetch())}
    </>
  ) : (
    <>
      {way === 'password' ? typed : pressed(way)}
      {isAway ? link(t.security.sso.again, again) : others}
      <ProblemText>{problem}</ProblemText>
    </>
  );

  const isFilled = (!hasPassword || password !== '') && (!withCode || code.trim() !== '');
  return {
    fields: isAsked && asked,
    confirm,
    refuse,
    isKnown,
    /** Everything is there that the chosen way needs. */
    isReady: !isAsked || (!failure && (!isTyped || isFilled)),
    /** There is no way that users can take in this browser. */
    isImpossible: known.data !== undefined && ways.length === 0,
    needsCode,
  };
}
