import type { ReactNode } from 'react';
import { SectionError } from '../parts/ErrorPage';
import { t } from '../texts';
import css from './settings.module.css';

type Props = { title: string; lead?: string; actions?: ReactNode; children: ReactNode };

/** One part of the settings: what it is, what can be done, and the thing itself. */
export function Section({ title, lead, actions, children }: Props) {
  return (
    <section className={css.section}>
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

type Fetched<T> = { data: T | undefined; error: unknown; refetch: () => unknown };

/** What was fetched; still bars while it is on its way, the failure where it would be. */
export function Fetched<T>({ of, children }: { of: Fetched<T>; children: (data: T) => ReactNode }) {
  if (of.error) return <SectionError error={of.error} onRetry={() => void of.refetch()} />;
  if (of.data === undefined || of.data === null) return <Skeleton />;
  return <>{children(of.data)}</>;
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
