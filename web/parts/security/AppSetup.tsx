import { Button } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client';
import type { Answer } from '../../api/paths';
import { Problem, words } from '../../api/problem';
import { refetch } from '../../api/query';
import { t } from '../../texts';
import { CodeInput } from '../CodeInput';
import { CopyWord } from '../Copy';
import { QrCode } from '../QrCode';
import { grouped } from './codes';
import { RecoveryCodes } from './RecoveryCodes';
import css from './security.module.css';

type Started = Answer<'/v1/auth/totp', 'post'>;
/** Its fields are null only in the answer to a repeated request. */
export type AppSecret = { [Field in keyof Started]: NonNullable<Started[Field]> };

export async function createAppSecret(): Promise<AppSecret> {
  const { data } = await api.POST('/v1/auth/totp');
  return data as AppSecret;
}

type Props = {
  secret: AppSecret;
  /** Asks for a new secret, as one is good for some minutes. */
  onAgain: () => void;
  /** Called before the recovery codes are created, as they are shown once, and again if that fails. */
  onLock?: (isLocked: boolean) => void;
  onDone: () => void;
};

/** Sets up an authenticator app: the QR code, the first code of the app, then the recovery codes. */
export function AppSetup({ secret, onAgain, onLock, onDone }: Props) {
  const [code, setCode] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const [isExpired, setExpired] = useState(false);
  const [codes, setCodes] = useState<string[]>();
  const texts = t.security.app;

  async function submit(event: FormEvent) {
    event.preventDefault();
    event.stopPropagation();
    setBusy(true);
    setError(undefined);
    onLock?.(true);
    try {
      const { data } = await api.POST('/v1/auth/totp/activate', { body: { code: code.replace(/\s/g, '') } });
      setCodes(data?.recoveryCodes ?? []);
      void refetch('/v1/auth/');
    } catch (problem) {
      onLock?.(false);
      if (problem instanceof Problem && problem.status === 410) setExpired(true);
      else setError((problem instanceof Problem && problem.fields().code) || words(problem));
    } finally {
      setBusy(false);
    }
  }

  if (codes) return <RecoveryCodes codes={codes} onDone={onDone} />;
  if (isExpired)
    return (
      <div className={css.stack}>
        <p role="alert">{texts.expired}</p>
        <div className={css.buttons}>
          <Button data-autofocus onClick={onAgain}>
            {texts.again}
          </Button>
        </div>
      </div>
    );
  return (
    <form onSubmit={(event) => void submit(event)} className={css.stack} noValidate>
      <p className="t2">{texts.scan}</p>
      <div className={css.setup}>
        <QrCode rows={secret.qr} label={texts.qr} />
        <div className={css.manual}>
          <p className="t2">{texts.manual}</p>
          <code className={css.secret}>{grouped(secret.secret)}</code>
          <div className={css.buttons}>
            <CopyWord text={secret.secret} label={texts.copy} size="xs" />
            <Button size="xs" variant="subtle" component="a" href={secret.uri}>
              {texts.here}
            </Button>
          </div>
        </div>
      </div>
      <CodeInput
        description={texts.codeHelp}
        value={code}
        error={error}
        autoFocus
        data-autofocus
        onChange={(event) => setCode(event.currentTarget.value)}
      />
      <div className={css.buttons}>
        <Button type="submit" loading={busy} disabled={code.trim() === ''}>
          {texts.activate}
        </Button>
      </div>
    </form>
  );
}
