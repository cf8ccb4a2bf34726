import { TextInput, type TextInputProps } from '@mantine/core';
import { t } from '../texts';
import type { Limits } from './numbers';

type Props = Omit<TextInputProps, 'type' | 'min' | 'max' | 'value' | 'onChange'> & {
  limits: Limits;
  value: string;
  isOptional?: boolean;
  onChange: (next: string) => void;
};

/** A field for a whole number. What is typed stays a text, so that it can be wrong for a while. */
export function NumberField({ label, limits, isOptional, onChange, ...rest }: Props) {
  return (
    <TextInput
      type="number"
      inputMode="numeric"
      label={isOptional ? `${label} ${t.forms.optional}` : label}
      onChange={(event) => onChange(event.currentTarget.value)}
      {...limits}
      {...rest}
    />
  );
}
