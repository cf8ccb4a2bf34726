import { t } from '../texts';
import { counts, stateOf, type Theme } from './logic';
import css from './soa.module.css';

/** One cell per control: a gap is taller, what does not apply is hollow. */
export function Progress({ themes }: { themes: Theme[] }) {
  return (
    <ul className={css.progress}>
      {themes.map((theme) => {
        const { complete, all, gaps } = counts(theme.rows);
        return (
          <li key={theme.name}>
            <p className={css.themeFacts}>
              <b>{theme.name}</b> <span className="num t3">{t.soa.of(complete, all)}</span>
            </p>
            <div className={css.cells} role="img" aria-label={t.soa.progress(theme.name, complete, all, gaps)}>
              {theme.rows.map((row) => (
                <i key={row.question.id} data-state={stateOf(row)} title={`${row.question.code} ${row.question.title}`} />
              ))}
            </div>
          </li>
        );
      })}
    </ul>
  );
}
