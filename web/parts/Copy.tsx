import { ActionIcon, Button, type ButtonProps, CopyButton } from '@mantine/core';
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

type WordProps = Pick<ButtonProps, 'size' | 'leftSection'> & {
  text: string;
  /** The name of the button, where "Copy" alone does not say enough. */
  label?: string;
};

/** The same with a word. */
export function CopyWord({ text, label, ...rest }: WordProps) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button variant="default" aria-label={copied ? undefined : label} onClick={copy} {...rest}>
          {copied ? t.actions.copied : t.actions.copy}
        </Button>
      )}
    </CopyButton>
  );
}
