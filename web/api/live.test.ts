import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { events, paths } from './live';

function stream(...chunks: string[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(encoder.encode(chunk));
      controller.close();
    },
  });
}

test('events are read however they are cut', async () => {
  const all = [];
  for await (const event of events(stream(': hi\n\nid: 4', '2\nevent: risk.updated\ndata: {"a"', ':1}\n', '\nretry: 5\n\n')))
    all.push(event);
  expect(all).toEqual([{ id: '42', event: 'risk.updated', data: '{"a":1}' }]);
});

test('whatever the journal tells of has its place', () => {
  const table = readFileSync(new URL('../../crates/domain/src/journal/feed.rs', import.meta.url), 'utf8');
  const kinds = [...table.matchAll(/^ {4}\("([\w-]+)", Permission/gm)].map(([, kind]) => kind);
  expect(kinds.length).toBeGreaterThan(20);
  expect(kinds.filter((kind) => !(String(kind) in paths))).toEqual([]);
});
