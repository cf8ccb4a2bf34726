import type { Search } from '../../routes';
import { t } from '../../texts';
import { Glyph } from '../glyphs';
import { counts, HeatLegend, HeatMap, impacts, likelihoods } from '../HeatMap';
import { useMatrix, useTotal } from './data';
import { type Definition, statusOf } from './definition';
import { noCell } from './filters';
import css from './Register.module.css';

type Props = { d: Definition; view: Search; go: (next: Search) => void };

/** Before and after treatment, beside the table: a cell narrows the table down, and so does a status. */
export function Heat({ d, view, go }: Props) {
  const { data } = useMatrix(d);
  return (
    <section className={css.heat} aria-label={t.scales.heatMap}>
      <h2>{t.scales.heatMap}</h2>
      <div className={css.maps}>
        {(['inherent', 'residual'] as const).map((when) => (
          <div key={when}>
            <h3>{t.scales[when]}</h3>
            <Ratings d={d} view={view} go={go} when={when} cells={data?.[when]} />
          </div>
        ))}
      </div>
      <HeatLegend />
      {data && data.notAssessed > 0 && (
        <button type="button" className="plain link" onClick={() => go({ isAssessed: 'false' })}>
          {t.scales.notAssessed(data.notAssessed)}
        </button>
      )}
      <ul className={css.statuses}>
        {Object.keys(d.statuses)
          .filter((key) => key !== 'archived')
          .map((key) => (
            <li key={key}>
              <StatusCount d={d} status={key} onPick={() => go({ status: key })} />
            </li>
          ))}
      </ul>
    </section>
  );
}

type RatingsProps = Props & { when: 'inherent' | 'residual'; cells: Parameters<typeof counts>[0] };

function Ratings({ d, view, go, when, cells }: RatingsProps) {
  const { likelihood, impact } = d.ratings[when];
  const [l, i] = [likelihoods.indexOf(view[likelihood] as never) + 1, impacts.indexOf(view[impact] as never) + 1];
  return (
    <HeatMap
      label={`${t.scales.heatMap}: ${t.scales[when]}`}
      counts={counts(cells)}
      selected={l && i ? { l, i } : undefined}
      onSelect={(cell) =>
        go({ ...noCell(d), ...(cell ? { [likelihood]: likelihoods[cell.l - 1], [impact]: impacts[cell.i - 1] } : {}) })
      }
    />
  );
}

function StatusCount({ d, status, onPick }: { d: Definition; status: string; onPick: () => void }) {
  const count = useTotal(d, { status });
  const { label, ...glyph } = statusOf(d, status);
  return (
    <button type="button" className={`plain ${css.status}`} onClick={onPick}>
      <Glyph {...glyph} />
      <span>{label}</span>
      <b className="num">{count ?? ''}</b>
    </button>
  );
}
