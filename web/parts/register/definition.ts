import type { ComponentProps, ComponentType } from 'react';
import type { Schemas } from '../../api/client';
import type { Criteria, Impact, Likelihood } from '../../api/criteria';
import { type Texts, t } from '../../texts';
import type { Field } from '../Field';
import type { FilterField } from '../FilterBar';
import type { Column } from '../list/Table';
import type { Status } from '../StatusPill';

export type Row = Schemas['RiskView'] | Schemas['VendorView'];
type Kind = ComponentProps<typeof Field>['kind'];

/** One field of the record, for the drawer and the form. */
export type FieldDefinition = {
  name: string;
  kind: Kind | 'person' | 'rating';
  choices?: Record<string, string>;
  /** Other words for the choices, which an import knows, too. */
  synonyms?: Record<string, string>;
  /** What the choices mean. */
  hints?: Record<string, string>;
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
  fields: { name: string; kind?: FieldDefinition['kind']; choices?: Record<string, string>; synonyms?: Record<string, string> }[];
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
  /** The words of the ratings. */
  criteria: Criteria;
  /** The highest residual score that is tolerated, where there is such a thing. */
  appetite?: number;
  filters: FilterField[];
  fields: FieldDefinition[];
  /** Columns that only this register has. */
  columns?: Column<Row>[];
  /** What else the drawer shows of a record, below its fields. */
  more?: ComponentType<{ id: string; asOf?: string; isPast: boolean }>;
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

/** The score from which on a risk is above the appetite; none where nothing is. */
export const aboveOf = ({ appetite }: Pick<Definition, 'appetite'>) =>
  appetite !== undefined && appetite < MAX_SCORE ? appetite + 1 : undefined;
const MAX_SCORE = 25;

/** The fields of the ratings, in the words of the organization. */
export function ratingFields(
  { likelihood, impact, hints }: Criteria,
  names: [likelihood: string, impact: string, residualLikelihood: string, residualImpact: string],
): FieldDefinition[] {
  return names.map((name, at) => ({
    name,
    kind: 'rating',
    choices: at % 2 === 0 ? likelihood : impact,
    synonyms: at % 2 === 0 ? t.scales.likelihood : t.scales.impact,
    hints: at % 2 === 0 ? hints.likelihood : hints.impact,
    asked: true,
  }));
}
