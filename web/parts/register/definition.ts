import type { ComponentProps, ComponentType } from 'react';
import type { Schemas } from '../../api/client';
import type { Texts } from '../../texts';
import type { Field } from '../Field';
import type { FilterField } from '../FilterBar';
import type { Impact, Likelihood } from '../HeatMap';
import type { Status } from '../StatusPill';

export type Row = Schemas['RiskView'] | Schemas['VendorView'];
type Kind = ComponentProps<typeof Field>['kind'];

/** One field of the record, for the drawer and the form. */
export type FieldDefinition = {
  name: string;
  kind: Kind | 'person' | 'rating';
  choices?: Record<string, string>;
  optional?: boolean;
  /** Asked for when a record is created. */
  asked?: boolean;
  help?: string;
};

/** What the form for a new record and the import need to know of a register. */
export type Formed = Omit<Imported, 'fields'> & { fields: FieldDefinition[] };

/** What the import needs to know: which fields a column can become. */
/** The registers whose records are created by a form or an import. */
export type RegisterPath = '/v1/risks' | '/v1/vendors' | '/v1/tasks' | '/v1/controls' | '/v1/context';

export type Imported = {
  path: RegisterPath;
  nameField: string;
  labels: Record<string, string>;
  fields: { name: string; kind?: FieldDefinition['kind']; choices?: Record<string, string> }[];
  texts: { new: string; one: string; many: string };
};

/** What makes a register of rated things: a table of what differs between risks and vendors. */
export type Definition = {
  path: '/v1/risks' | '/v1/vendors';
  page: '/risks' | '/vendors';
  entity: 'risk' | 'vendor';
  texts: Texts['risks'] | Texts['vendors'];
  labels: Record<string, string>;
  name: (row: Row) => string;
  nameField: 'title' | 'name';
  statuses: Record<string, Status>;
  /** The fields of likelihood and impact, before and after treatment. */
  ratings: Record<'inherent' | 'residual', { likelihood: string; impact: string }>;
  filters: FilterField[];
  fields: FieldDefinition[];
  /** Records that ship with the product, to choose from. */
  library?: { label: string; hint: string; Panel: ComponentType<{ onClose: () => void }> };
};

/** A status that this console does not know is shown by its own word. */
export const statusOf = (d: Definition, status: string): Status =>
  d.statuses[status] ?? { label: status, tone: 'mute', shape: 'ring' };

export const value = (row: Row, field: string) => (row as unknown as Record<string, unknown>)[field];
export const likelihood = (row: Row, d: Definition, when: 'inherent' | 'residual') =>
  value(row, d.ratings[when].likelihood) as Likelihood;
export const impact = (row: Row, d: Definition, when: 'inherent' | 'residual') => value(row, d.ratings[when].impact) as Impact;
