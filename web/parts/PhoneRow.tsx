import type { ReactNode } from 'react';
import css from './PhoneRow.module.css';

/** One record of a register on a phone: its name, and its facts below. */
export function PhoneRow({ title, onOpen, children }: { title: ReactNode; onOpen: () => void; children: ReactNode }) {
  return (
    <button type="button" className={`plain ${css.row}`} onClick={onOpen}>
      <span className={css.title}>{title}</span>
      <span className={css.facts}>{children}</span>
    </button>
  );
}
