import { describe, expect, it } from 'vitest';
import { hear, recent } from './stream';

const stream = (...chunks: string[]) =>
  new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(control) {
      for (const chunk of chunks) control.enqueue(new TextEncoder().encode(chunk));
      control.close();
    },
  });

async function heard(body: ReadableStream<Uint8Array<ArrayBuffer>>) {
  let text = '';
  let proposal: unknown;
  const problem = await hear(body, {
    onText: (more) => {
      text += more;
    },
    onProposal: (one) => {
      proposal = one;
    },
  }).catch((error: Error) => error.message);
  return { text, proposal, problem };
}

describe('an answer of the assistant', () => {
  it('comes in pieces, wherever they are cut', async () => {
    const body = stream(
      'data: {"type":"start"}\n\ndata: {"type":"text-start","id":"0"}\n\n: still here\n\nda',
      'ta: {"type":"text-delta","id":"0","delta":"I renamed"}\n\ndata: {"type":"text-delta","id":"0","delta":" it."}\n',
      '\ndata: {"type":"text-end","id":"0"}\n\ndata: {"type":"data-policy","data":{"markdown":"## A","content":[]}}\n\n',
      'data: {"type":"finish"}\n\ndata: [DONE]\n\n',
    );
    expect(await heard(body)).toEqual({ text: 'I renamed it.', proposal: { markdown: '## A', content: [] }, problem: undefined });
  });

  it('keeps its beginning when it breaks off', async () => {
    const body = stream(
      'data: {"type":"text-delta","id":"0","delta":"I"}\n\ndata: {"type":"error","errorText":"The provider stopped."}\n\n',
    );
    expect(await heard(body)).toEqual({ text: 'I', proposal: undefined, problem: 'The provider stopped.' });
  });
});

describe('what was said before', () => {
  it('is sent as far as the API takes it, the newest first', () => {
    const turn = (content: string) => ({ role: 'user' as const, content });
    expect(recent([turn('a'.repeat(90_000)), turn('b'.repeat(20_000)), turn('c')]).map(({ content }) => content[0])).toEqual([
      'b',
      'c',
    ]);
    expect(recent(Array.from({ length: 60 }, () => turn('x')))).toHaveLength(40);
  });
});
