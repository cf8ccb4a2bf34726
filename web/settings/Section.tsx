import type { ReactNode } from 'react';
import { SectionError } from '../parts/ErrorPage';
import { t } from '../texts';
import css from './settings.module.css';

type Props = {
  /** Names the section for links within the page. */
  id?: string;
  title: string;
  lead?: string;
  actions?: ReactNode;
  children: ReactNode;
};

/** A part of the settings, with its title and the buttons for what can be done in it. */
export function Section({ id, title, lead, actions, children }: Props) {
  return (
    <section id={id} tabIndex={id ? -1 : undefined} className={css.section}>
      <div className={css.head}>
        <div>
          <h2>{title}</h2>
          {lead && <p className="t2">{lead}</p>}
        </div>
        {actions && <div className={css.actions}>{actions}</div>}
      </div>
      {children}
    </section>
  );
}

/** The columns of a table whose last one holds what can be done to a row. */
export function Head({ columns }: { columns: string[] }) {
  return (
    <thead>
      <tr>
        {columns.map((column) => (
          <th key={column} scope="col">
            {column}
          </th>
        ))}
        <th>
          <span className="hidden-visually">{t.record.more}</span>
        </th>
      </tr>
    </thead>
  );
}

export type Query<T> = { data: T | undefined; error: unknown; refetch: () => unknown };

/** Draws fetched data; bars while it is on its way, or the failure. Data that could not be fetched again stays. */
export function Fetched<T>({ of, children }: { of: Query<T>; children: (data: T) => ReactNode }) {
  if (of.data !== undefined && of.data !== null) return <>{children(of.data)}</>;
  return of.error ? <SectionError error={of.error} onRetry={() => void of.refetch()} /> : <Skeleton />;
}

function Skeleton() {
  return (
    <div className={css.skeletons} aria-hidden="true">
      {[62, 48, 71].map((width) => (
        <div key={width} style={{ width: `${width}%` }} />
      ))}
    </div>
  );
}
