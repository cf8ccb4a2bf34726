import { Button, Modal } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { onExpiry } from '../api/expiry';
import { queries } from '../api/query';
import { useMe } from '../api/session';
import { t } from '../texts';
import { useEscapeBlock } from './escape';
import { SignInForm } from './SignInForm';

/** Asks for a new sign-in over the page when a session ends, so that nothing typed below is lost. */
export function Expiry() {
  const { user } = useMe();
  const [open, setOpen] = useState(false);
  const done = useRef<() => void>(undefined);
  useEscapeBlock(open);
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

  return (
    <Modal
      opened={open}
      onClose={() => undefined}
      withCloseButton={false}
      title={t.expired.title}
      centered
      zIndex={1200}
      attributes={{ header: { role: 'presentation' } }}
    >
      <p className="t2">{t.expired.text}</p>
      <SignInForm
        email={user?.email ?? ''}
        verb={t.expired.button}
        onSignedIn={async (signedIn) => {
          // A passkey may be of another account, which has no part in what was typed here.
          if (signedIn.user.id !== user?.id) return location.assign('/');
          setOpen(false);
          done.current?.();
          await queries.invalidateQueries();
        }}
        below={
          <Button variant="subtle" component="a" href="/sign-in">
            {t.expired.other}
          </Button>
        }
      />
    </Modal>
  );
}
