import { Button, Menu } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { words } from '../api/problem';
import { t } from '../texts';
import { toast } from './toast';

/** Names of formats, which are the same in every language. */
export const TABLES = { csv: 'CSV', xlsx: 'Excel (XLSX)' };

type Props = {
  /** Where the export is, without its format. */
  path: string;
  query?: Record<string, string>;
  /** Each format with its name. */
  formats?: Record<string, string>;
  width?: number;
  /** More items of the menu. */
  children?: ReactNode;
};

/** Saves an export, or says why it could not be saved. */
export async function save(path: string, query: Record<string, string>) {
  const { download } = await import('../api/download');
  await download(`${path}?${new URLSearchParams(query)}`).catch((problem) => toast(words(problem), { bad: true }));
}

export function ExportMenu({ path, query, formats = TABLES, width, children }: Props) {
  return (
    <Menu width={width}>
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={16} stroke={1.6} />}>
          {t.actions.export}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {Object.entries(formats).map(([format, name]) => (
          <Menu.Item key={format} onClick={() => void save(path, { ...query, format })}>
            {name}
          </Menu.Item>
        ))}
        {children}
      </Menu.Dropdown>
    </Menu>
  );
}
