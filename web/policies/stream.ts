import { api } from '../api/client';
import { events } from '../api/live';
import type { Node } from './content';

export type Turn = { role: 'user' | 'assistant'; content: string };
export type Proposal = { markdown: string; content: Node[] };
type Piece =
  | { type: 'text-delta'; delta: string }
  | { type: 'data-policy'; data: Proposal }
  | { type: 'error'; errorText: string }
  | { type: 'start' | 'text-start' | 'text-end' | 'finish' };

export type Heard = { onText: (more: string) => void; onProposal: (proposal: Proposal) => void };

/** What is sent of what was said before: the API takes a hundred turns of 200,000 characters in all. */
export function recent(turns: Turn[]): Turn[] {
  const kept: Turn[] = [];
  let room = 100_000;
  for (const turn of turns.slice(-40).reverse()) {
    room -= turn.content.length;
    if (room < 0) break;
    kept.unshift(turn);
  }
  return kept;
}

/** Reads an answer to its end. What goes wrong on the way is thrown, after the text that came before it was told. */
export async function hear(body: ReadableStream<Uint8Array<ArrayBuffer>>, { onText, onProposal }: Heard) {
  for await (const { data } of events(body)) {
    if (!data || data === '[DONE]') continue;
    const piece = JSON.parse(data) as Piece;
    if (piece.type === 'text-delta') onText(piece.delta);
    if (piece.type === 'data-policy') onProposal(piece.data);
    if (piece.type === 'error') throw new Error(piece.errorText);
  }
}

/** Asks the assistant. Aborting ends the call to the provider as well. */
export async function askAssistant(id: string, instructions: string, before: Turn[], signal: AbortSignal, heard: Heard) {
  const { data } = await api.POST('/v1/policies/{id}/ai-chat', {
    params: { path: { id } },
    body: { instructions, chatHistory: recent(before) },
    parseAs: 'stream',
    signal,
  });
  if (data) await hear(data as ReadableStream<Uint8Array<ArrayBuffer>>, heard);
}
