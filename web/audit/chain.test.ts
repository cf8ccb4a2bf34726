import { beforeAll, describe, expect, test } from 'vitest';
import type { Schemas } from '../api/client';
import { Chain, canonical, seal } from './chain';

type Entry = Schemas['AuditEntry'];
/** The document types a state as an empty object. */
const stated = (state: object) => state as Entry['state'];

/** As a server wrote it. */
const written: Entry = {
  id: 'aud_01m7hs9v3cf038a9bcwxagbzkj',
  organizationId: 'org_01m7hs9v3bffw998cd7va5bt6s',
  sequence: 1,
  at: '2026-11-16T08:59:10.314Z',
  actor: { type: 'system', id: 'set-up', name: null, memberId: null, memberName: null },
  authType: null,
  action: 'organization.created',
  entityType: 'organization',
  entityId: 'org_01m7hs9v3bffw998cd7va5bt6s',
  entityName: 'Northwind Robotics',
  reference: null,
  state: stated({
    createdAt: '2026-11-16T08:59:10.314Z',
    id: 'org_01m7hs9v3bffw998cd7va5bt6s',
    name: 'Northwind Robotics',
    timeZone: 'UTC',
    updatedAt: '2026-11-16T08:59:10.314Z',
    website: null,
  }),
  changes: [],
  requestId: 'set-up',
  ip: null,
  hash: '6314c7653f2b913fa01d0a0aeaed2c78077be135ae2b2dbb39a911574785f34b',
};

/** Newest first, as the log is read. */
let log: Entry[];
beforeAll(async () => {
  const all = [written];
  for (let sequence = 2; sequence <= 6; sequence += 1) {
    const state = sequence === 4 ? null : stated({ title: `é “${sequence}” 😀`, score: sequence / 7 });
    const entry: Entry = { ...written, sequence, id: `aud_${sequence}`, action: 'risk.updated', state };
    all.push({ ...entry, hash: await seal(entry, all.at(-1)?.hash ?? '') });
  }
  log = all.reverse();
});

async function found(entries: Entry[], marks: ConstructorParameters<typeof Chain>[0] = []) {
  const chain = new Chain(marks);
  await chain.take(entries.slice(0, 2));
  await chain.take(entries.slice(2));
  await chain.end();
  return chain.found;
}
const changed = (sequence: number, change: Partial<Entry>) =>
  log.map((entry) => (entry.sequence === sequence ? { ...entry, ...change } : entry));

test('canonical JSON has one order and no spaces', () => {
  expect(canonical({ b: [1, { z: null, a: 'x"\n' }], a: 0.1, é: true })).toBe(
    '{"a":0.1,"b":[1,{"a":"x\\"\\n","z":null}],"é":true}',
  );
});

test('an entry has the hash that the server gave it', async () => {
  expect(await seal(written, '0'.repeat(64))).toBe(written.hash);
});

describe('a chain', () => {
  test('is intact as it was written', async () => {
    expect(await found(log)).toBeUndefined();
  });
  test('names the first entry that was changed', async () => {
    const both = changed(5, { ip: '192.0.2.1' }).map((entry) => (entry.sequence === 3 ? { ...entry, state: {} } : entry));
    expect(await found(both)).toMatchObject({ fault: 'changed', first: 3 });
  });
  test('misses an entry that was removed, also the first', async () => {
    expect(await found(log.filter(({ sequence }) => sequence !== 4))).toMatchObject({ fault: 'missing', first: 4 });
    expect(await found(log.filter(({ sequence }) => sequence !== 1))).toMatchObject({ fault: 'missing', first: 1 });
  });
  test('misses an end that was cut off', async () => {
    const marks = [{ sequence: 6, hash: log[0]?.hash ?? '', fault: 'head' as const }];
    expect(await found(log.slice(1), marks)).toMatchObject({ fault: 'missing', first: 6 });
  });
  test('is held against an end that was seen before', async () => {
    const marks = [{ sequence: 5, hash: 'f'.repeat(64), fault: 'rewritten' as const }];
    expect(await found(log, marks)).toMatchObject({ fault: 'rewritten', first: 5 });
  });
});
