import { Button, type ButtonProps } from '@mantine/core';
import { IconFingerprint } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { offerPasskeys, type SignedIn, signInByPasskey } from '../api/passkeys';
import { t } from '../texts';
import type { useForm } from './frame';

type Options = {
  finish: (signedIn: SignedIn) => Promise<unknown>;
  /** The form that shows a failure. */
  form: Pick<ReturnType<typeof useForm>, 'fail' | 'clear'>;
};

/** A sign-in by a passkey that the user asks for. */
export function usePasskey({ finish, form }: Options) {
  const [isBusy, setBusy] = useState(false);
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
  return { isBusy, signIn: () => void signIn() };
}

/** Passkeys in the autofill and by a button; one aborts the other, as a browser has one request at a time. */
export function usePasskeys({ isPaused, isAutofilled, ...options }: Options & { isPaused: boolean; isAutofilled: boolean }) {
  const [isAvailable, setAvailable] = useState(false);
  const passkey = usePasskey(options);
  const isOffering = !isPaused && !passkey.isBusy;
  const latest = useRef(options);
  latest.current = options;
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
  return { isAvailable, ...passkey };
}

type ButtonOptions = Pick<ButtonProps, 'size'> & { of: ReturnType<typeof usePasskey> };

export function PasskeyButton({ size, of: { isBusy, signIn } }: ButtonOptions) {
  return (
    <Button
      variant="default"
      size={size}
      leftSection={<IconFingerprint size={18} stroke={1.6} />}
      loading={isBusy}
      onClick={signIn}
    >
      {t.gate.passkey}
    </Button>
  );
}
