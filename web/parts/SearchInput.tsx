import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useRef } from 'react';
import { t } from '../texts';
import { useShortcuts } from './shortcuts';

/** How long somebody pauses before what they typed is looked for. */
const PAUSE = 250;

type Props = { value?: string; onChange: (next: string | undefined) => void; label?: string; width?: number };

export function SearchInput({ value, onChange, label = t.filters.search, width = 150 }: Props) {
  const later = useDebouncedCallback(onChange, PAUSE);
  const input = useRef<HTMLInputElement>(null);
  useShortcuts({ '/': () => input.current?.focus() });
  return (
    <TextInput
      ref={input}
      aria-label={label}
      placeholder={t.filters.search}
      size="xs"
      w={width}
      leftSection={<IconSearch size={14} stroke={1.7} />}
      defaultValue={value}
      onChange={(event) => later(event.currentTarget.value || undefined)}
    />
  );
}
