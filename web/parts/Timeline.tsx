import { IconRobot } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { t } from '../texts';
import { Avatar } from './Person';
import css from './Timeline.module.css';

export type Change = { field: string; from?: ReactNode; to: ReactNode };
export type Entry = {
  id: string;
  actor: string;
  /** An automation or the assistant rather than a person. */
  machine?: boolean;
  verb: string;
  when: string;
  at: string;
  changes?: Change[];
  note?: string;
};

export function Timeline({ entries }: { entries: Entry[] }) {
  return (
    <ol className={css.list}>
      {entries.map((e) => (
        <li key={e.id} className={css.item}>
          {e.machine ? (
            <span className={css.mark}>
              <IconRobot size={16} stroke={1.6} />
            </span>
          ) : (
            <Avatar name={e.actor} />
          )}
          <div className={css.who}>
            <b>{e.actor}</b> {e.verb}{' '}
            <time className={css.when} dateTime={e.at} title={e.at}>
              · {e.when}
            </time>
          </div>
          {e.changes && (
            <dl className={css.changes}>
              {e.changes.map((c) => (
                <div key={c.field} style={{ display: 'contents' }}>
                  <dt>{c.field}</dt>
                  <dd>
                    {c.from !== undefined && (
                      <>
                        <del>{c.from}</del>
                        <span className={css.arrow} aria-label={t.record.became}>
                          →
                        </span>
                      </>
                    )}
                    <ins>{c.to}</ins>
                  </dd>
                </div>
              ))}
            </dl>
          )}
          {e.note && <p className={css.note}>{e.note}</p>}
        </li>
      ))}
    </ol>
  );
}
