// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { t } from '../texts';
import {
  ACTIONS,
  actionOf,
  actionsOf,
  actionWord,
  actorWord,
  type Entry,
  entityWord,
  fieldWord,
  placeOf,
  reading,
  recordName,
} from './entries';

test('a field of an entry has its label, and its name in the API where it has none', () => {
  expect(fieldWord('task', 'lastEvidenceDate')).toBe('Latest evidence');
  expect(fieldWord('task', 'frequency')).toBe('Repeats');
  expect(fieldWord('chat_channel', 'urlFingerprint')).toBe('Fingerprint of the webhook address');
  expect(fieldWord('task', 'somethingNew')).toBe('somethingNew');
});

test('a time reads as one', () => {
  expect(reading('2025-08-13T08:45:00.000Z', () => undefined)).toMatch(/^13 Aug 2025 /);
});

test('a filter by actions keeps those of the kinds that are shown', () => {
  expect(actionsOf('risk,policy_version', 'risk.created,task.created,policy.version_published')).toBe(
    'risk.created,policy.version_published',
  );
  expect(actionsOf('task', 'risk.created')).toBeUndefined();
  expect(actionsOf(undefined, 'risk.created')).toBeUndefined();
});

test('whatever happens to a member or to a sign-in has words of its own', () => {
  const members = (ACTIONS.member ?? []).map((verb) => actionOf('member', verb)).filter((action) => action !== 'member.updated');
  expect(members.filter((action) => !t.people.verbs[action])).toEqual([]);
  const directories = ['directory', 'directory_token', 'directory_user', 'directory_group'];
  const credentials = ['api_key', 'service_account'];
  expect([...directories, ...credentials].filter((kind) => !t.audit.entities[kind])).toEqual([]);
  const signIns = ['organization', 'member', 'user', 'session', 'second_factor', 'mail_domain', 'sso_connection', 'sso_identity'];
  const kinds = [...signIns, ...directories, ...credentials];
  const words = kinds.flatMap((kind) => (ACTIONS[kind] ?? []).map((verb) => actionWord(actionOf(kind, verb))));
  expect(words.filter((word) => word === '' || /_/.test(word))).toEqual([]);
  const verbs = kinds.flatMap((kind) => ACTIONS[kind] ?? []).map((verb) => verb.split('.').at(-1) ?? '');
  expect(
    verbs.filter((verb) => !t.audit.verbs[verb] && !Object.keys(t.audit.actions).some((one) => one.endsWith(`.${verb}`))),
  ).toEqual([]);
});

test('what a directory did has its name, and what it sent is named as it was sent', () => {
  const entry = {
    action: 'directory_group.role_changed',
    actor: { type: 'directory', id: 'dtk_1', name: null, memberId: null, memberName: null },
    entityType: 'directory_group',
    entityId: 'dgr_1',
    entityName: null,
    reference: null,
    state: { displayName: 'Compliance', role: 'auditor' },
    changes: [],
  } as unknown as Entry;
  expect(actorWord(entry)).toBe('Directory');
  expect(recordName(entry)).toBe('Compliance');
  expect(placeOf(entry)).toBe('/settings/security');
  const changes = [{ field: 'userName', before: 'eve@acme.example', after: null }];
  const gone = { ...entry, action: 'directory_user.deleted', entityType: 'directory_user', state: null, changes } as Entry;
  expect(recordName(gone)).toBe('eve@acme.example');
  expect(recordName({ ...gone, changes: [] })).toBe(entityWord('directory_user'));
});
