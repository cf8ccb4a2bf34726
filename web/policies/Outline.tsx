import { useEffect, useState } from 'react';
import { t } from '../texts';
import type { Part } from './content';
import css from './Detail.module.css';

/** The sections of the text, the one in view marked; with how many changes of each are not decided. */
export function Outline({ parts, marks }: { parts: Part[]; marks?: (place: number) => boolean }) {
  const [now, setNow] = useState(parts[0]?.place);
  const places = parts.map(({ place }) => place).join(',');
  useEffect(() => {
    const scroller = document.getElementById('policy-panel');
    const look = () => {
      const top = (scroller?.getBoundingClientRect().top ?? 0) + 120;
      const seen = places.split(',').filter((place) => {
        const at = document.getElementById(`part-${place}`)?.getBoundingClientRect().top;
        return at !== undefined && at <= top;
      });
      setNow(Number(seen.at(-1) ?? places.split(',')[0]));
    };
    look();
    scroller?.addEventListener('scroll', look, { passive: true });
    return () => scroller?.removeEventListener('scroll', look);
  }, [places]);

  const open = (part: Part, next: Part | undefined) => {
    if (!marks) return 0;
    let count = 0;
    for (let place = part.place; place < (next?.place ?? part.place + 500); place += 1) if (marks(place)) count += 1;
    return count;
  };
  return (
    <nav className={css.outline} aria-label={t.policies.sections}>
      <ol>
        {parts.map((part, place) => {
          const count = open(part, parts[place + 1]);
          return (
            <li key={part.place}>
              <a
                href={`#part-${part.place}`}
                aria-current={part.place === now ? 'true' : undefined}
                onClick={(event) => {
                  event.preventDefault();
                  document.getElementById(`part-${part.place}`)?.scrollIntoView({ block: 'start' });
                }}
              >
                <span>{part.text}</span>
                {count > 0 && <b className="num">{count}</b>}
              </a>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}
