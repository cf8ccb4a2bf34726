import { Kbd } from '@mantine/core';
import type { ReactNode } from 'react';
import css from './EmptyState.module.css';

export type Way = { icon: ReactNode; label: string; hint: string; keys?: string; onPick?: () => void };

/** Teaches by showing: what this register is for, ways to begin, and a specimen of a good record. */
export function EmptyState({ title, lead, ways, specimen }: { title: string; lead?: string; ways: Way[]; specimen?: ReactNode }) {
  return (
    <section className={css.empty}>
      <div>
        <h2>{title}</h2>
        {lead && <p className={css.lead}>{lead}</p>}
        <div className={css.ways}>
          {ways.map((w) => (
            <button key={w.label} type="button" className={`plain ${css.way}`} onClick={w.onPick}>
              {w.icon}
              <span>
                <b>{w.label}</b>
                <small>{w.hint}</small>
              </span>
              {w.keys && <Kbd>{w.keys}</Kbd>}
            </button>
          ))}
        </div>
      </div>
      {specimen}
    </section>
  );
}
