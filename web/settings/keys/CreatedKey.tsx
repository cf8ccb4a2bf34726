import { Button, Modal } from '@mantine/core';
import { IconCopy } from '@tabler/icons-react';
import { toast } from '../../parts/toast';
import { t } from '../../texts';
import css from '../settings.module.css';

/** The only time a key is seen. It is left by saying so, not by a stray click. */
export function CreatedKey({ secret, onClose }: { secret: string; onClose: () => void }) {
  const texts = t.settings.keys;
  return (
    <Modal
      opened
      onClose={onClose}
      title={texts.created}
      centered
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      attributes={{ header: { role: 'presentation' } }}
    >
      <p className="t2">{texts.createdText}</p>
      <code className={css.secret}>{secret}</code>
      <div className={css.buttons}>
        <Button variant="default" onClick={onClose}>
          {texts.done}
        </Button>
        <Button
          leftSection={<IconCopy size={16} stroke={1.6} />}
          data-autofocus
          onClick={() => void navigator.clipboard.writeText(secret).then(() => toast(t.actions.copied))}
        >
          {texts.copy}
        </Button>
      </div>
    </Modal>
  );
}
