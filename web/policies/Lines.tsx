import css from './Text.module.css';

/** A text that is on its way, as still bars. */
export function Lines() {
  return (
    <div className={css.wait} aria-hidden="true">
      {[38, 92, 86, 64, 30, 90, 74].map((width) => (
        <div key={width} style={{ width: `${width}%` }} />
      ))}
    </div>
  );
}
