import { useQuery } from '@tanstack/react-query';
import { api, type Schemas } from '../api/client';
import { actorName } from '../parts/actors';
import { valuesOf } from '../parts/FilterBar';
import { dated, day } from '../parts/format';
import { pageOf } from '../parts/places';
import type { Search } from '../routes';
import { t } from '../texts';

export type Entry = Schemas['AuditEntry'];

/** The words of the address that the log takes. */
export const FILTERS = ['entityType', 'entityId', 'actor', 'action', 'from', 'to'] as const;

export function queryOf(view: Search): Record<string, string> {
  return Object.fromEntries(FILTERS.flatMap((key) => (view[key] ? [[key, view[key]]] : [])));
}

export function useHead() {
  return useQuery({
    queryKey: ['head', '/v1/audit-logs'],
    queryFn: async () => (await api.GET('/v1/audit-logs/head')).data ?? null,
  });
}

/** What each kind of record can have happen to it, for the filter. */
export const ACTIONS: Record<string, string[]> = {
  risk: ['created', 'updated', 'accepted', 'acceptance_withdrawn', 'deleted'],
  risk_criteria: ['updated'],
  vendor: ['created', 'updated', 'deleted'],
  task: ['created', 'updated', 'deleted'],
  automation: ['created', 'updated', 'deleted'],
  'automation-run': ['created', 'completed', 'failed', 'cancelled'],
  policy: ['created', 'updated', 'submitted', 'denied', 'published', 'reminded', 'review_due', 'deleted'],
  policy_version: ['version_published', 'version_deleted'],
  policy_signature: ['signed'],
  framework: ['created', 'updated', 'deleted'],
  control: ['created', 'updated', 'deleted'],
  programme: ['started', 'updated', 'reminded', 'undone'],
  soa_document: ['created', 'updated', 'submitted', 'approved', 'declined', 'superseded'],
  soa_answer: ['answered', 'answer_proposed', 'answer_updated', 'answer_withdrawn'],
  context_entry: ['created', 'updated', 'deleted'],
  member: [
    'created',
    'invited',
    'joined',
    'updated',
    'role_synced',
    'exempted',
    'exemption_ended',
    'deactivated',
    'reactivated',
    'restored',
    'signed_out',
    'invitation_withdrawn',
  ],
  user: ['updated', 'email_changed', 'sign_in_failed', 'password_changed', 'password_removed', 'password_reset_requested'],
  'user-notifications': ['notifications_changed'],
  session: ['created', 'granted', 'confirmed', 'ended'],
  second_factor: [
    'totp.activated',
    'totp.removed',
    'passkey.added',
    'passkey.renamed',
    'passkey.removed',
    'passkey.counter_suspicious',
    'recovery_codes.created',
    'recovery_codes.used',
    'second_factors.reset',
  ],
  sign_in_policy: ['updated'],
  mail_domain: ['added', 'updated', 'verified', 'failing', 'lapsed', 'lost', 'removed'],
  sso_connection: ['created', 'updated', 'tested', 'deleted'],
  sso_identity: ['linked', 'unlinked', 'signed_out'],
  directory: ['updated'],
  directory_token: ['created', 'revoked'],
  directory_user: ['created', 'updated', 'deleted'],
  directory_group: ['created', 'updated', 'members_changed', 'role_changed', 'deleted'],
  api_key: ['created', 'rotated', 'revoked'],
  service_account: ['created', 'updated', 'orphaned', 'deleted'],
  secret: ['set', 'deleted'],
  'automation-hosts': ['updated'],
  chat_channel: ['created', 'updated', 'tested', 'deleted'],
  organization: ['created', 'updated', 'signed_out', 'deleted', 'restored'],
  comment: ['created', 'updated', 'deleted'],
  attachment: ['created', 'downloaded', 'deleted'],
  portal: ['updated', 'domain_verified', 'domain_broken', 'domain_mended', 'domain_lost'],
  portal_post: ['created', 'updated', 'deleted'],
  view: ['created', 'updated', 'deleted'],
  certificate: ['uploaded', 'replaced', 'downloaded', 'deleted'],
  access_request: ['created', 'answered', 'approved', 'denied', 'granted'],
  access_grant: ['created', 'reclaimed', 'revoked'],
  nda: ['sent', 'signed', 'voided', 'downloaded'],
  visit: ['opened', 'policy_downloaded', 'policies_downloaded', 'certificate_downloaded'],
  subscriber: ['added', 'confirmed', 'removed'],
  export: [],
  operation: [],
};

/** Actions whose first word is not the kind of the record; a record of several kinds names them whole. */
const PREFIX: Record<string, string> = {
  policy_version: 'policy',
  policy_signature: 'policy',
  soa_document: 'soa',
  soa_answer: 'soa',
  'user-notifications': 'user',
};
export const actionOf = (entityType: string, verb: string) =>
  verb.includes('.') ? verb : `${PREFIX[entityType] ?? entityType}.${verb}`;

/** Keeps those actions of a filter that these kinds of records have. */
export function actionsOf(types: string | undefined, actions: string | undefined): string | undefined {
  const known = new Set(valuesOf(types).flatMap((type) => (ACTIONS[type] ?? []).map((verb) => actionOf(type, verb))));
  return (
    valuesOf(actions)
      .filter((action) => known.has(action))
      .join(',') || undefined
  );
}

const human = (word: string) => word.charAt(0).toUpperCase() + word.slice(1).replaceAll(/[_-]/g, ' ');
export const entityWord = (type: string) => t.audit.entities[type] ?? human(type);
export function actionWord(action: string): string {
  const verb = action.slice(action.lastIndexOf('.') + 1);
  return t.audit.actions[action] ?? t.audit.verbs[verb] ?? human(verb);
}

/** The words for whoever or whatever acted. */
export function actorWord({ actor }: Entry): string {
  if (actor.type === 'visitor') return t.audit.visitor;
  return actorName(actor) ?? (actor.type === 'system' ? t.record.system : t.record.somebody);
}

/** The fields that hold the name of what a directory sends. */
const DIRECTORY_NAMES = ['displayName', 'userName'];

/** The name of the record; what a directory sends has it in its state, and what is gone in what it was before. */
export function nameOf({ entityName, entityType, state, changes }: Entry): string | undefined {
  if (entityName !== null || !entityType.startsWith('directory_')) return entityName ?? undefined;
  const before = Object.fromEntries(changes.map((change) => [change.field, change.before]));
  const known: Record<string, unknown> = { ...before, ...state };
  return DIRECTORY_NAMES.map((field) => known[field]).find((name) => typeof name === 'string');
}

/** What a person would call the record: its reference, or its name. */
export function recordName(entry: Entry): string {
  if (entry.entityType === 'export') return entityWord(entry.entityId);
  return entry.reference ?? nameOf(entry) ?? entityWord(entry.entityType);
}

/** The address of the record, while it exists. */
export function placeOf({ action, entityType, entityId, state }: Entry): string | undefined {
  if (action.endsWith('.deleted') || action.endsWith('.revoked')) return undefined;
  const about = (field: string) => (state as Record<string, unknown> | null)?.[field];
  const under = (path: string, id: unknown) => (id ? `${path}/${id}` : undefined);
  const places: Record<string, string | undefined> = {
    automation: under('/tasks', about('taskId')),
    'automation-run': under('/tasks', about('taskId')),
    policy_version: under('/policies', about('policyId')),
    policy_signature: under('/policies', about('policyId')),
  };
  return places[entityType] ?? pageOf(entityType, entityId);
}

/** Fields that change with every entry, or that say what is said elsewhere. */
const NOISE = new Set(['id', 'organizationId', 'createdAt', 'updatedAt']);
export const told = (entry: Entry) => entry.changes.filter(({ field }) => !NOISE.has(field));

/** The label of a field; one that the console does not show elsewhere keeps its name in the API. */
export function fieldWord(entityType: string, field: string): string {
  const own: Record<string, Record<string, string>> = {
    risk: t.risks.fields,
    vendor: t.vendors.fields,
    task: t.tasks.fields,
    policy: t.policies.fields,
    control: t.controls.fields,
    soa_answer: t.soa.fields,
    member: t.people.fields,
    automation: t.tasks.automations.fields,
    context_entry: t.settings.context.fields,
    api_key: { memberId: t.settings.keys.columns.member },
    service_account: { memberId: t.settings.keys.columns.member, description: t.settings.serviceAccounts.purpose },
  };
  return own[entityType]?.[field] ?? t.audit.fieldWords[field] ?? field;
}

/** How a value reads in the log: with names for people, and dates as dates. */
export function reading(value: unknown, name: (id: string) => string | undefined): string {
  if (value === null || value === undefined || value === '') return t.audit.nothing;
  if (typeof value === 'string') return name(value) ?? dated(value) ?? value;
  if (typeof value === 'boolean') return value ? t.filters.yes : t.filters.no;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string'))
    return value.length === 0 ? t.audit.nothing : value.map((one) => name(one) ?? one).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** "09:13:02", and the day before it unless it is today; in UTC. */
export function shortTime(at: string): string {
  const isToday = at.slice(0, 10) === new Date().toISOString().slice(0, 10);
  return isToday ? at.slice(11, 19) : `${day(at)} ${at.slice(11, 16)}`;
}

/** `9f3c 71ab`: enough to tell hashes apart. */
export const shortHash = (hash: string) => `${hash.slice(0, 4)} ${hash.slice(4, 8)}`;
