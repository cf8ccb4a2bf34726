import { expect, test } from 'vitest';
import { events } from './live';

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
