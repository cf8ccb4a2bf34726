import { TextInput } from '@mantine/core';
import { language } from '../texts';
import css from './Day.module.css';

type Props = { label: string; value?: string; min?: string; max?: string; onChange: (next: string | undefined) => void };

/** A date in a bar, with its label in front of it. */
export function Day({ label, value, min, max, onChange }: Props) {
  return (
    <div className={css.day}>
      <span aria-hidden="true">{label}</span>
      <TextInput
        aria-label={label}
        size="xs"
        type="date"
        lang={language}
        min={min}
        max={max}
        value={value?.slice(0, 10) ?? ''}
        onChange={(event) => onChange(event.currentTarget.value || undefined)}
      />
    </div>
  );
}
