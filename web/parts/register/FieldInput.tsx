import { Checkbox, Select, Textarea, TextInput } from '@mantine/core';
import { usePeople } from '../../api/people';
import { withHints } from '../hints';
import type { FieldDefinition } from './definition';

/** What a field of a form holds. */
export type Given = string | boolean | undefined;

type Props = {
  field: FieldDefinition;
  label: string;
  error?: string;
  value: Given;
  onChange: (value: Given) => void;
  /** Has the focus when the form opens. */
  isFirst?: boolean;
};

/** The input of one field of a record. */
export function FieldInput({ field, label, error, value, onChange, isFirst }: Props) {
  const people = usePeople();
  const shared = {
    label,
    description: field.hints?.[String(value)] ?? field.help,
    error,
    value: String(value ?? ''),
    'data-autofocus': isFirst || undefined,
  };
  const onText = (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value);
  switch (field.kind) {
    case 'long':
      return <Textarea {...shared} autosize minRows={3} onChange={onText} />;
    case 'text':
      return <TextInput {...shared} onChange={onText} />;
    case 'date':
      return <TextInput {...shared} type="date" onChange={onText} />;
    case 'yes':
      return <Checkbox label={label} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />;
    default: {
      const choices =
        field.kind === 'person'
          ? people.active.map((one) => [one.id, one.user.name] as const)
          : Object.entries(field.choices ?? {});
      return (
        <Select
          {...shared}
          value={shared.value || null}
          data={choices.map(([value, label]) => ({ value, label }))}
          renderOption={withHints(field.hints)}
          searchable={choices.length > 8}
          clearable
          onChange={(next) => onChange(next ?? undefined)}
        />
      );
    }
  }
}
