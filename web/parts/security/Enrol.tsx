import { Button } from '@mantine/core';
import { useState } from 'react';
import { $api } from '../../api/client';
import { createPasskey, hasPasskeys, passkeyWords, registrationOptions } from '../../api/passkeys';
import { t } from '../../texts';
import { browser } from '../browser';
import { useConfirmed } from '../confirmed';
import { ProblemText } from '../ProblemText';
import { Way, Ways } from '../Way';
import { type AppSecret, AppSetup, createAppSecret } from './AppSetup';
import css from './security.module.css';

/** Adds the first second factor of an account: an authenticator app or a passkey. */
export function Enrol({ onDone }: { onDone: () => Promise<unknown> }) {
  const security = $api.useQuery('get', '/v1/auth/security');
  const { run, dialog } = useConfirmed({ isOfAccount: true });
  const [secret, setSecret] = useState<AppSecret>();
  const [busy, setBusy] = useState<'app' | 'passkey'>();
  const [problem, setProblem] = useState<string>();
  const texts = t.security;

  async function attempt(way: 'app' | 'passkey', act: () => Promise<unknown>) {
    setBusy(way);
    setProblem(undefined);
    try {
      await act();
    } catch (error) {
      setProblem(passkeyWords(error));
    } finally {
      setBusy(undefined);
    }
  }
  const startApp = () => attempt('app', async () => setSecret(await run(createAppSecret)));
  const addPasskey = () =>
    attempt('passkey', async () => {
      const ceremony = await run(registrationOptions);
      if (!ceremony) return;
      await createPasskey(ceremony, browser(navigator.userAgent) ?? '');
      await onDone();
    });

  return (
    <div className={css.stack}>
      {secret ? (
        <AppSetup
          key={secret.secret}
          secret={secret}
          onAgain={() => void startApp()}
          onDone={() => void attempt('app', onDone)}
        />
      ) : (
        <Ways>
          <Way
            title={texts.app.title}
            hint={texts.app.lead}
            actions={
              <Button loading={busy === 'app'} onClick={() => void startApp()}>
                {texts.app.setUp}
              </Button>
            }
          />
          {hasPasskeys() && security.data?.arePasskeysAvailable && (
            <Way
              title={texts.passkeys.title}
              hint={texts.passkeys.lead}
              actions={
                <Button variant="default" loading={busy === 'passkey'} onClick={() => void addPasskey()}>
                  {texts.passkeys.add}
                </Button>
              }
            />
          )}
        </Ways>
      )}
      <ProblemText>{problem}</ProblemText>
      {dialog}
    </div>
  );
}
