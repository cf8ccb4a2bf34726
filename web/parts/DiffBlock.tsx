import { Button } from '@mantine/core';
import { IconArrowBackUp, IconCheck, IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import css from './DiffBlock.module.css';
import { Glyph } from './glyphs';

export type Piece = string | { del?: string; ins?: string };
export type Decision = 'open' | 'accepted' | 'rejected';

type Props = {
  n: number;
  of: number;
  pieces: Piece[];
  state: Decision;
  onDecide: (next: Decision) => void;
  /** Why the assistant proposes it, with what it rests on. */
  why?: ReactNode;
};

const text = (pieces: Piece[], state: Decision) =>
  pieces.map((p, i) =>
    typeof p === 'string' ? (
      p
    ) : state === 'accepted' ? (
      (p.ins ?? '')
    ) : state === 'rejected' ? (
      (p.del ?? '')
    ) : (
      <span key={i}>
        {p.del && <del>{p.del}</del>}
        {p.del && p.ins && ' '}
        {p.ins && <ins>{p.ins}</ins>}
      </span>
    ),
  );

/** One reviewable change in a document. Nothing enters the draft before it is accepted. */
export function DiffBlock({ n, of, pieces, state, onDecide, why }: Props) {
  return (
    <div className={css.block} data-state={state} role="group" aria-label={`Change ${n} of ${of}`}>
      <div className={css.bar}>
        {state === 'open' ? (
          <b>
            Change {n} of {of}
          </b>
        ) : (
          <>
            <Glyph shape={state === 'accepted' ? 'check' : 'cross'} tone={state === 'accepted' ? 'ok' : 'mute'} />
            <b>{state === 'accepted' ? 'Accepted' : 'Rejected'}</b>
          </>
        )}
        <span className={css.spring} />
        {state === 'open' ? (
          <>
            <Button size="xs" variant="subtle" leftSection={<IconX size={14} />} onClick={() => onDecide('rejected')}>
              Reject
            </Button>
            <Button size="xs" variant="default" leftSection={<IconCheck size={14} />} onClick={() => onDecide('accepted')}>
              Accept
            </Button>
          </>
        ) : (
          <Button size="xs" variant="subtle" leftSection={<IconArrowBackUp size={14} />} onClick={() => onDecide('open')}>
            Undo
          </Button>
        )}
      </div>
      <p>{text(pieces, state)}</p>
      {why && <p className={css.why}>{why}</p>}
    </div>
  );
}
