import { useEffect, useRef, useState } from 'react';
import { day } from '../parts/format';
import { t } from '../texts';
import css from './plan.module.css';
import type { Item } from './queries';
import type { Week } from './rows';

/** A smaller movement is a click. */
const THRESHOLD_PX = 4;

type Drag = { item: Item; x: number; y: number; over?: Week };

type Props = {
  items: Item[];
  weeks: Week[];
  isMovable: (item: Item) => boolean;
  onDrop: (item: Item, week: Week) => void;
  /** `Alt ↓` and `Alt ↑` on a row. */
  onKey: (item: Item, by: 1 | -1) => void;
};

/** Moves the rows of a list between weeks, by any pointer or by the keyboard. A week is whatever has its key as `data-group`. */
export function useDrag(props: Props) {
  const now = useRef(props);
  now.current = props;
  const frame = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<Drag>();

  useEffect(() => {
    const box = frame.current;
    const ended = new AbortController();
    const rowOf = (target: EventTarget | null): Item | undefined => {
      const id = target instanceof Element ? target.closest('[data-row]')?.getAttribute('data-row') : undefined;
      const item = now.current.items.find((one) => one.id === id);
      return item && now.current.isMovable(item) ? item : undefined;
    };

    let current: AbortController | undefined;
    const begin = (event: PointerEvent) => {
      const isHandle = event.target instanceof Element && event.target.closest('[data-drag]') !== null;
      const item = rowOf(event.target);
      if (!isHandle || !item || event.button !== 0) return;
      event.preventDefault();
      current?.abort();
      current = new AbortController();
      const { signal } = current;
      let latest: Drag | undefined;
      const stop = () => {
        current?.abort();
        setDrag(undefined);
      };
      const move = ({ clientX: x, clientY: y }: PointerEvent) => {
        if (!latest && Math.hypot(x - event.clientX, y - event.clientY) < THRESHOLD_PX) return;
        const key = document.elementFromPoint(x, y)?.closest('[data-group]')?.getAttribute('data-group');
        latest = { item, x, y, over: now.current.weeks.find(({ startsOn }) => startsOn === key) };
        setDrag(latest);
      };
      const drop = (event: PointerEvent) => {
        move(event);
        stop();
        if (latest?.over) now.current.onDrop(item, latest.over);
      };
      const press = (event: KeyboardEvent) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        stop();
      };
      addEventListener('pointermove', move, { signal });
      addEventListener('pointerup', drop, { signal });
      addEventListener('pointercancel', stop, { signal });
      addEventListener('keydown', press, { signal, capture: true });
    };
    const key = (event: KeyboardEvent) => {
      const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : undefined;
      if (!event.altKey || !by || event.target instanceof HTMLInputElement) return;
      const item = rowOf(event.target);
      if (!item) return;
      event.preventDefault();
      now.current.onKey(item, by);
    };
    box?.addEventListener('pointerdown', begin, { signal: ended.signal });
    box?.addEventListener('keydown', key, { signal: ended.signal });
    return () => {
      ended.abort();
      current?.abort();
    };
  }, []);

  return { frame, drag };
}

/** All weeks while something is dragged, also those without rows, and what is dragged at the pointer. */
export function Weeks({ drag: { item, x, y, over }, weeks }: { drag: Drag; weeks: Week[] }) {
  const { list } = t.plan;
  const name = ({ number, startsOn, endsOn }: Week) => list.weekName(number, day(startsOn), day(endsOn));
  return (
    <div aria-hidden="true" data-screen>
      <div className={css.weeks}>
        <b>{list.weeks(item.reference)}</b>
        <ol>
          {weeks.map((week) => (
            <li key={week.startsOn} data-group={week.startsOn} data-over={week === over || undefined}>
              <span>{name(week)}</span>
              <span className="num t3">{week.count || ''}</span>
            </li>
          ))}
        </ol>
      </div>
      <div className={css.dragged} style={{ translate: `${x}px ${y}px` }}>
        <span className="mono">{item.reference}</span> {over ? name(over) : item.title}
      </div>
    </div>
  );
}
