import type { ReactNode } from 'react';
import css from './PageHeader.module.css';

type Props = {
  title: string;
  /** Where this record lives, above the title. */
  crumb?: ReactNode;
  /** Status beside the title. */
  state?: ReactNode;
  /** Two to four facts a reader would otherwise count. Empty until they are known: their line is kept free. */
  facts?: ReactNode[];
  /** Last child is the one primary action. */
  actions?: ReactNode;
  /** Tabs or the filter bar. */
  children?: ReactNode;
};

export function PageHeader({ title, crumb, state, facts, actions, children }: Props) {
  return (
    <header className={css.header}>
      {crumb && <div className={css.crumb}>{crumb}</div>}
      <div className={css.row}>
        <div className={css.titles}>
          <div className={css.title}>
            <h1>{title}</h1>
            {state}
          </div>
          {facts && (
            <div className={css.facts}>
              {facts.map((f, i) => (
                <span key={i} className={css.fact}>
                  {f}
                </span>
              ))}
            </div>
          )}
        </div>
        {actions && (
          <div className={css.actions} data-screen>
            {actions}
          </div>
        )}
      </div>
      {children && <div className={css.below}>{children}</div>}
    </header>
  );
}
