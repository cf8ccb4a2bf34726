import type { ReactNode } from 'react';
import { Copy } from './Copy';
import css from './CopyList.module.css';

type Item =
  | {
      name: string;
      value: string;
      /** The label of the button that copies the value. */
      copy: string;
    }
  | { name: string; value: ReactNode; copy?: undefined };

/** Named values to enter elsewhere, each with a button that copies it. */
export function CopyList({ items }: { items: Item[] }) {
  return (
    <dl className={css.list}>
      {items.map((item) => (
        <div key={item.name}>
          <dt>{item.name}</dt>
          <dd>
            {item.copy === undefined ? (
              item.value
            ) : (
              <>
                <code>{item.value}</code>
                <Copy text={item.value} label={item.copy} />
              </>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
