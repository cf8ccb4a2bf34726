import { TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { language } from '../texts';
import css from './Day.module.css';

type Props = { label: string; value?: string; min?: string; max?: string; onChange: (next: string | undefined) => void };

/** A date in a bar, with its label in front of it. Half a date, or one out of range, goes no further than the field. */
export function Day({ label, value, min = '2000-01-01', max, onChange }: Props) {
  const given = value?.slice(0, 10) ?? '';
  const [text, setText] = useState(given);
  const [isWrong, setWrong] = useState(false);
  useEffect(() => setText(given), [given]);
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
        value={text}
        onChange={({ currentTarget: { value, validity } }) => {
          setText(value);
          setWrong(!validity.valid);
          if (validity.valid) onChange(value || undefined);
        }}
        error={isWrong}
        onBlur={() => {
          setText(given);
          setWrong(false);
        }}
      />
    </div>
  );
}
