import { Button, Menu, Select } from '@mantine/core';
import { IconTrash, IconUser } from '@tabler/icons-react';
import { usePeople } from '../api/people';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { t } from '../texts';
import { useConfirm } from './confirm';
import { Glyph } from './glyphs';
import type { Status } from './StatusPill';
import { toast } from './toast';

type Choice = { value: string; label: string };

/** How many requests run at once, so that a large selection does not use up the rate limit. */
const AT_ONCE = 6;

/** Does the same to each of many records; tells how many it failed for, and why. */
export async function each(path: string, ids: string[], act: (id: string) => Promise<unknown>) {
  const failed: PromiseRejectedResult[] = [];
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const ended = await Promise.allSettled(ids.slice(at, at + AT_ONCE).map(act));
    failed.push(...ended.filter((one) => one.status === 'rejected'));
  }
  await refetch(path);
  if (failed[0]) toast(t.bulk.failed(failed.length, ids.length, words(failed[0].reason)), { bad: true });
  else toast(t.bulk.done(ids.length));
}

export function StatusMenu({ statuses, onPick }: { statuses: Record<string, Status>; onPick: (status: string) => void }) {
  return (
    <Menu>
      <Menu.Target>
        <Button size="xs" variant="subtle">
          {t.bulk.status}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {Object.entries(statuses).map(([key, { label, ...glyph }]) => (
          <Menu.Item key={key} leftSection={<Glyph {...glyph} />} onClick={() => onPick(key)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Who is to look after the selected records. */
export function AssignSelect({ label, more = [], onPick }: { label: string; more?: Choice[]; onPick: (id: string) => void }) {
  const people = usePeople();
  return (
    <Select
      size="xs"
      w={160}
      aria-label={label}
      placeholder={label}
      leftSection={<IconUser size={14} stroke={1.6} />}
      searchable
      value={null}
      data={[...people.active.map(({ id, user }) => ({ value: id, label: user.name })), ...more]}
      onChange={(id) => id && onPick(id)}
    />
  );
}

/** What is asked before the selected records are deleted. */
type Question = { title: string; text: string; verb: string };

export function DeleteButton({ count, question, act }: { count: number; question?: Question; act: () => Promise<unknown> }) {
  const { ask, dialog } = useConfirm();
  const usual = { title: t.bulk.deleteAsk(count), text: t.record.deleteText, verb: t.actions.delete };
  return (
    <>
      <Button
        size="xs"
        variant="subtle"
        leftSection={<IconTrash size={14} stroke={1.6} />}
        onClick={() => ask({ ...(question ?? usual), act })}
      >
        {t.actions.delete}
      </Button>
      {dialog}
    </>
  );
}
