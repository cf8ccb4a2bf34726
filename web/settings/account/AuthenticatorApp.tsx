import { Button } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Answer } from '../../api/paths';
import { words } from '../../api/problem';
import { refetch } from '../../api/query';
import { useConfirm } from '../../parts/confirm';
import { useConfirmed } from '../../parts/confirmed';
import { day } from '../../parts/format';
import { Panel } from '../../parts/Panel';
import { StatusPill } from '../../parts/StatusPill';
import { type AppSecret, AppSetup, createAppSecret } from '../../parts/security/AppSetup';
import { toast } from '../../parts/toast';
import { Way } from '../../parts/Way';
import { t } from '../../texts';
import { changed, SECURITY } from './queries';

/** The authenticator app of the account, which is set up or removed here. */
export function AuthenticatorApp({ totp: { isActive, since } }: Pick<Answer<typeof SECURITY>, 'totp'>) {
  const { run, dialog: confirmation } = useConfirmed({ isOfAccount: true });
  const { ask, dialog } = useConfirm();
  const [secret, setSecret] = useState<AppSecret>();
  // The recovery codes are shown once: they are left by a button, not by a stray click.
  const [isLocked, setLocked] = useState(false);
  const [busy, setBusy] = useState(false);
  const texts = t.signIn.security;
  const own = t.security.app;

  async function start() {
    setBusy(true);
    try {
      const next = await run(createAppSecret);
      if (next) setSecret(next);
    } catch (problem) {
      toast(words(problem), { bad: true });
      void refetch(SECURITY);
    } finally {
      setBusy(false);
    }
  }
  const close = () => {
    setSecret(undefined);
    setLocked(false);
  };
  const remove = () =>
    ask({
      title: texts.removeAsk,
      text: texts.removeText,
      verb: texts.remove,
      withIdentity: true,
      isOfAccount: true,
      act: async () => {
        await api.DELETE('/v1/auth/totp');
        await changed(texts.removed);
      },
    });
  return (
    <Way
      title={own.title}
      state={
        <>
          {isActive ? <StatusPill label={texts.active} tone="ok" shape="check" /> : texts.none}{' '}
          {isActive && since && texts.since(day(new Date(since)))}
        </>
      }
      hint={!isActive && own.lead}
      actions={
        isActive ? (
          <Button variant="default" onClick={remove}>
            {texts.remove}
          </Button>
        ) : (
          <Button variant="default" loading={busy} onClick={() => void start()}>
            {own.setUp}
          </Button>
        )
      }
    >
      {secret && (
        <Panel
          title={own.panel}
          onClose={close}
          closeOnClickOutside={false}
          closeOnEscape={!isLocked}
          withCloseButton={!isLocked}
        >
          <AppSetup
            key={secret.secret}
            secret={secret}
            onAgain={() => void start()}
            onLock={setLocked}
            onDone={() => {
              close();
              void changed(texts.set);
            }}
          />
        </Panel>
      )}
      {confirmation}
      {dialog}
    </Way>
  );
}
