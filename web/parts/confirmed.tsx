import { useState } from 'react';
import { t } from '../texts';
import { Dialog } from './Dialog';
import { isUnconfirmed } from './identity';

type Options = {
  /** It changes how the account signs in, so its own credentials confirm it. */
  isOfAccount?: boolean;
};

/** Sends a request that needs a confirmed session, and asks for the confirmation if the server does. */
export function useConfirmed({ isOfAccount }: Options = {}) {
  const [settle, setSettle] = useState<(isConfirmed: boolean) => void>();

  /** The result of the request, or its failure, also after a confirmation; undefined if the user gave up. */
  async function run<T>(send: () => Promise<T>): Promise<T | undefined> {
    try {
      return await send();
    } catch (error) {
      if (!isUnconfirmed(error)) throw error;
    }
    const isConfirmed = await new Promise<boolean>((resolve) => setSettle(() => resolve));
    return isConfirmed ? send() : undefined;
  }

  const dialog = settle && (
    <Dialog
      title={t.security.confirmTitle}
      verb={t.security.confirm}
      withPassword
      isOfAccount={isOfAccount}
      isAbove
      act={async () => settle(true)}
      onClose={() => {
        settle(false);
        setSettle(undefined);
      }}
    >
      <p className="t2">{t.security.confirmText}</p>
    </Dialog>
  );
  return { run, dialog };
}
