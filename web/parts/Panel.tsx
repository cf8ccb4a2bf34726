import { Drawer, type DrawerProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { t } from '../texts';

type Props = Pick<DrawerProps, 'closeOnClickOutside' | 'closeOnEscape' | 'withCloseButton'> & {
  title: string;
  onClose: () => void;
  /** For tables and scripts. */
  isWide?: boolean;
  children: ReactNode;
};

/** The panel at the right in which something is made or chosen. */
export function Panel({ title, isWide, children, ...rest }: Props) {
  return (
    <Drawer
      opened
      position="right"
      size={isWide ? 640 : 560}
      title={title}
      closeButtonProps={{ 'aria-label': t.actions.close }}
      attributes={{ content: { 'aria-label': title }, header: { role: 'presentation' } }}
      {...rest}
    >
      {children}
    </Drawer>
  );
}
