import { ActionIcon, CopyButton } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { t } from '../texts';

/** A button that copies a text. */
export function Copy({ text, label }: { text: string; label: string }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <ActionIcon aria-label={copied ? t.actions.copied : label} onClick={copy}>
          {copied ? <IconCheck size={15} /> : <IconCopy size={15} stroke={1.6} />}
        </ActionIcon>
      )}
    </CopyButton>
  );
}
