import { Button, Modal } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Answer } from '../../api/paths';
import { refetch } from '../../api/query';
import { useConfirm } from '../../parts/confirm';
import { day } from '../../parts/format';
import { StatusPill } from '../../parts/StatusPill';
import { RecoveryCodes } from '../../parts/security/RecoveryCodes';
import { Way } from '../../parts/Way';
import { t } from '../../texts';
import { SECURITY } from './queries';

const FEW = 3;

/** The recovery codes of the account, which are replaced here. */
export function Codes({ state: { totp, recoveryCodes } }: { state: Answer<typeof SECURITY> }) {
  const { ask, dialog } = useConfirm();
  const [codes, setCodes] = useState<string[]>();
  const texts = t.signIn.security;
  const own = t.security.recovery;
  const { left, createdAt } = recoveryCodes;
  const renew = () =>
    ask({
      title: texts.renewAsk,
      text: texts.renewText,
      verb: texts.renew,
      withIdentity: true,
      isOfAccount: true,
      isSafe: true,
      act: async () => {
        const { data } = await api.POST('/v1/auth/recovery-codes');
        setCodes(data?.recoveryCodes ?? undefined);
        await refetch(SECURITY);
      },
    });
  if (!totp.isActive && left === 0) return null;
  return (
    <Way
      title={own.title}
      state={
        <>
          {own.left(left)}
          {createdAt && `, ${texts.codesMade(day(new Date(createdAt)))}`}{' '}
          {left <= FEW && <StatusPill label={texts.few} tone="warn" shape="alert" />}
        </>
      }
      hint={texts.codesText}
      actions={
        totp.isActive && (
          <Button variant="default" onClick={renew}>
            {texts.renew}
          </Button>
        )
      }
    >
      {codes && (
        <Modal
          opened
          onClose={() => undefined}
          title={own.title}
          centered
          withCloseButton={false}
          closeOnClickOutside={false}
          closeOnEscape={false}
          attributes={{ header: { role: 'presentation' } }}
        >
          <RecoveryCodes codes={codes} onDone={() => setCodes(undefined)} />
        </Modal>
      )}
      {dialog}
    </Way>
  );
}
