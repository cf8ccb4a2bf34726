import { useState } from 'react';
import { t } from '../texts';
import { Dialog } from './Dialog';
import { isUnconfirmed } from './identity';

type Waiting = { act: () => Promise<unknown>; cancel: () => void };

type Options = {
  /** It changes how the account signs in, so its own credentials confirm it. */
  isOfAccount?: boolean;
};

/** Sends a request that needs a confirmed session, and asks for the confirmation if the server does. */
export function useConfirmed({ isOfAccount }: Options = {}) {
  const [waiting, setWaiting] = useState<Waiting>();

  /** The result of the request; undefined if the user gave up. */
  async function run<T>(send: () => Promise<T>): Promise<T | undefined> {
    try {
      return await send();
    } catch (error) {
      if (!isUnconfirmed(error)) throw error;
      return new Promise((resolve) => {
        setWaiting({ act: async () => resolve(await send()), cancel: () => resolve(undefined) });
      });
    }
  }

  const dialog = waiting && (
    <Dialog
      title={t.security.confirmTitle}
      verb={t.security.confirm}
      withPassword
      isOfAccount={isOfAccount}
      isAbove
      act={waiting.act}
      onClose={() => {
        waiting.cancel();
        setWaiting(undefined);
      }}
    >
      <p className="t2">{t.security.confirmText}</p>
    </Dialog>
  );
  return { run, dialog };
}
