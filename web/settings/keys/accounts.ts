import type { Schemas } from '../../api/client';
import type { ServiceAccount } from '../../api/people';

/** The input of the form of a service account. */
export type TypedAccount = { name: string; description: string; role: string; ownerId: string | null };

/** The input with which the form begins; an orphaned account has no owner to begin with. */
export const typedOf = ({ name, description, role, ownerId, isOrphaned }: ServiceAccount): TypedAccount => ({
  name,
  description: description ?? '',
  role,
  ownerId: isOrphaned ? null : ownerId,
});

export const newAccount = (ownerId: string | undefined): TypedAccount => ({
  name: '',
  description: '',
  role: 'employee',
  ownerId: ownerId ?? null,
});

const fieldsOf = ({ name, description, role, ownerId }: TypedAccount) => ({
  name: name.trim(),
  description: description.trim() || null,
  role,
  ownerId: ownerId ?? '',
});

export const newBodyOf = (typed: TypedAccount): Schemas['CreateServiceAccount'] => fieldsOf(typed);

/** The fields that differ from the known account. */
export function changesOf(known: ServiceAccount, typed: TypedAccount): Schemas['UpdateServiceAccount'] {
  const before: Record<string, unknown> = fieldsOf(typedOf(known));
  return Object.fromEntries(Object.entries(fieldsOf(typed)).filter(([field, value]) => value !== before[field]));
}
