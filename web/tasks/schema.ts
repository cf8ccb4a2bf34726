import type { Schemas } from '../api/client';
import { t } from '../texts';

/** As much of JSON Schema as the parameters of checks use. */
export type Property = {
  type?: string | string[];
  enum?: string[];
  items?: { enum?: string[] };
  default?: unknown;
  description?: string;
  minimum?: number;
  maximum?: number;
};
export type ObjectSchema = { properties?: Record<string, Property>; required?: string[] };
export type Values = Record<string, string | string[]>;
/** The document says no more of them than that they are an object. */
type Parameters = NonNullable<Schemas['CreateAutomation']['parameters']>;

const types = (property: Property) => (Array.isArray(property.type) ? property.type : [property.type ?? 'string']);

export const isMany = (property: Property) => types(property).includes('array');
export const isNumber = (property: Property) =>
  types(property).every((type) => type === 'integer' || type === 'number' || type === 'null');
export const isYes = (property: Property) => types(property).every((type) => type === 'boolean');

/** The parameters in the order of a form: what is required comes first. */
export function ordered(schema: ObjectSchema): [string, Property][] {
  const required = schema.required ?? [];
  const place = ([name]: [string, Property]) => (required.includes(name) ? 0 : 1);
  return Object.entries(schema.properties ?? {}).sort((a, b) => place(a) - place(b));
}

/** What a form shows: what was set, or else what applies if nothing is. */
export function shown(schema: ObjectSchema, parameters: Record<string, unknown> | null | undefined): Values {
  return Object.fromEntries(
    ordered(schema).map(([name, property]) => {
      const value = parameters?.[name] ?? property.default ?? null;
      if (isMany(property)) return [name, Array.isArray(value) ? value.map(String) : []];
      if (value === null) return [name, ''];
      // A text that reads as a number is quoted, so that it stays a text.
      return [
        name,
        typeof value === 'string' && typeof read(value, property) !== 'string' ? JSON.stringify(value) : String(value),
      ];
    }),
  );
}

/** What is sent: nothing for what was left empty, numbers as numbers. */
export function sent(schema: ObjectSchema, values: Values): Parameters {
  return Object.fromEntries(
    ordered(schema).flatMap(([name, property]) => {
      const value = values[name] ?? '';
      if (value.length === 0) return [];
      return [[name, Array.isArray(value) ? value : read(value, property)]];
    }),
  ) as Parameters;
}

function read(text: string, property: Property): unknown {
  const allowed = types(property);
  if (isNumber(property) || isYes(property) || allowed.length > 2) {
    try {
      const value: unknown = JSON.parse(text);
      const type = Number.isInteger(value) && !allowed.includes('number') ? 'integer' : typeof value;
      if (allowed.includes(type)) return value;
    } catch {
      // It is a plain text.
    }
  }
  return text;
}

/** What a parameter is called: our word for it, or else the schema's. */
export function named(check: string, name: string, property: Property): { label: string; help: string | undefined } {
  const known = t.tasks.checks[check]?.fields[name];
  const plain = name.replace(/([A-Z])/g, ' $1').toLowerCase();
  return known
    ? { label: known.label, help: known.help }
    : { label: plain.charAt(0).toUpperCase() + plain.slice(1), help: property.description };
}
