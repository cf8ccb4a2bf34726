import { Button } from '@mantine/core';
import { IconArrowBackUp, IconCheck, IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { t } from '../texts';
import css from './DiffBlock.module.css';
import { Glyph } from './glyphs';

export type Decision = 'open' | 'accepted' | 'rejected';

type Props = {
  n: number;
  of: number;
  state: Decision;
  onDecide: (next: Decision) => void;
  /** The change while it is open; afterwards what stands there then. */
  children: ReactNode;
  /** Why it is proposed, with what it rests on. */
  why?: ReactNode;
};

/** One reviewable change in a document. Nothing enters the draft before it is accepted. */
export function DiffBlock({ n, of, state, onDecide, children, why }: Props) {
  const texts = t.policies.change;
  const name = texts.name(n, of);
  return (
    <div className={css.block} data-state={state} role="group" aria-label={name}>
      <div className={css.bar}>
        {state === 'open' ? (
          <b>{name}</b>
        ) : (
          <>
            <Glyph shape={state === 'accepted' ? 'check' : 'cross'} tone={state === 'accepted' ? 'ok' : 'mute'} />
            <b>{texts[state]}</b>
          </>
        )}
        <span className={css.spring} />
        {state === 'open' ? (
          <>
            <Button size="xs" variant="subtle" leftSection={<IconX size={14} />} onClick={() => onDecide('rejected')}>
              {texts.reject}
            </Button>
            <Button size="xs" variant="default" leftSection={<IconCheck size={14} />} onClick={() => onDecide('accepted')}>
              {texts.accept}
            </Button>
          </>
        ) : (
          <Button size="xs" variant="subtle" leftSection={<IconArrowBackUp size={14} />} onClick={() => onDecide('open')}>
            {t.actions.undo}
          </Button>
        )}
      </div>
      {children}
      {why && <p className={css.why}>{why}</p>}
    </div>
  );
}
