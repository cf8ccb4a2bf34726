import type { ReactNode } from 'react';
import css from './Way.module.css';

/** The ways to sign in, to confirm, or what they build on. */
export const Ways = ({ children }: { children: ReactNode }) => <ul className={css.ways}>{children}</ul>;

type Props = {
  title: string;
  state?: ReactNode;
  hint?: ReactNode;
  /** The buttons for what can be done with it. */
  actions?: ReactNode;
  children?: ReactNode;
};

/** A way to sign in: its name, its state, and what can be done with it. */
export function Way({ title, state, hint, actions, children }: Props) {
  return (
    <li className={css.way}>
      <div className={css.line}>
        <div>
          <b>{title}</b>
          {state && <span className="t2">{state}</span>}
          {hint && <span className="t3">{hint}</span>}
        </div>
        {actions && <div className={css.actions}>{actions}</div>}
      </div>
      {children}
    </li>
  );
}
