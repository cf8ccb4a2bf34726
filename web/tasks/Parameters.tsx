import { MultiSelect, Select, TextInput } from '@mantine/core';
import { t } from '../texts';
import { isMany, isNumber, isYes, named, type ObjectSchema, ordered, type Property, type Values } from './schema';

type Props = {
  check: string;
  schema: ObjectSchema;
  values: Values;
  onChange: (next: Values) => void;
  /** By the field as the server names it: `parameters.host`. */
  errors: Record<string, string>;
  isReadOnly?: boolean;
};

/** A form made from the schema of a check's parameters. */
export function Parameters({ check, schema, values, onChange, errors, isReadOnly }: Props) {
  const input = ([name, property]: [string, Property]) => {
    const { label, help } = named(check, name, property);
    const isOptional = !schema.required?.includes(name);
    const shared = {
      label: `${label}${isOptional ? ` ${t.forms.optional}` : ''}`,
      description: help,
      error: errors[`parameters.${name}`],
      disabled: isReadOnly,
    };
    const value = values[name] ?? '';
    const set = (next: string | string[] | null) => onChange({ ...values, [name]: next ?? '' });
    if (isMany(property))
      return (
        <MultiSelect
          key={name}
          {...shared}
          data={property.items?.enum ?? []}
          value={Array.isArray(value) ? value : []}
          onChange={set}
        />
      );
    const text = Array.isArray(value) ? '' : value;
    const choices = isYes(property)
      ? [
          { value: 'true', label: t.filters.yes },
          { value: 'false', label: t.filters.no },
        ]
      : property.enum;
    if (choices)
      return <Select key={name} {...shared} data={choices} value={text || null} clearable={isOptional} onChange={set} />;
    return (
      <TextInput
        key={name}
        {...shared}
        inputMode={isNumber(property) ? 'numeric' : undefined}
        value={text}
        onChange={(event) => set(event.currentTarget.value)}
      />
    );
  };
  return ordered(schema).map(input);
}
