import { Button, Modal, PasswordInput } from '@mantine/core';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { api } from '../api/client';
import { onExpiry } from '../api/expiry';
import { words } from '../api/problem';
import { queries } from '../api/query';
import { useMe } from '../api/session';
import { t } from '../texts';

/** Asks for the password over the page when a session ends, so that nothing typed below is lost. */
export function Expiry() {
  const { user } = useMe();
  const [open, setOpen] = useState(false);
  const [password, setPassword] = useState('');
  const [problem, setProblem] = useState<string>();
  const done = useRef<() => void>(undefined);
  useEffect(() => {
    onExpiry(
      () =>
        new Promise((resolve) => {
          done.current = resolve;
          setOpen(true);
        }),
    );
    return () => onExpiry(undefined);
  }, []);

  async function submit(event: FormEvent) {
    event.preventDefault();
    setProblem(undefined);
    try {
      await api.POST('/v1/auth/login', { body: { email: user?.email ?? '', password } });
      setOpen(false);
      setPassword('');
      done.current?.();
      await queries.invalidateQueries();
    } catch (error) {
      setProblem(words(error));
    }
  }

  return (
    <Modal opened={open} onClose={() => undefined} withCloseButton={false} title={t.expired.title} centered>
      <form onSubmit={(event) => void submit(event)}>
        <p className="t2">{t.expired.text}</p>
        <PasswordInput
          label={`${t.expired.password} (${user?.email ?? ''})`}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={problem}
          autoComplete="current-password"
          visibilityToggleButtonProps={{ 'aria-label': t.gate.showPassword }}
          data-autofocus
          mt={12}
        />
        <div style={{ display: 'flex', justifyContent: 'space-between', marginTop: 20 }}>
          <Button variant="subtle" component="a" href="/sign-in">
            {t.expired.other}
          </Button>
          <Button type="submit">{t.expired.button}</Button>
        </div>
      </form>
    </Modal>
  );
}
