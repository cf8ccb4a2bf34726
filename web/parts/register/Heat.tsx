import { Button, Popover, SegmentedControl } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconGridDots } from '@tabler/icons-react';
import { useState } from 'react';
import { filterOf } from '../../api/bulk';
import { impacts, likelihoods } from '../../api/criteria';
import { useTotal } from '../../api/lists';
import type { Search } from '../../routes';
import { t } from '../../texts';
import { Glyph } from '../glyphs';
import { counts, HeatLegend, HeatMap } from '../HeatMap';
import { queryOf, useMatrix } from './data';
import { type Definition, statusOf } from './definition';
import { noCell } from './filters';
import css from './Register.module.css';

type Props = { d: Definition; view: Search; go: (next: Search) => void };

/** From this width on the heat map stands beside the list. */
const WIDE = '(min-width: 1600px)';
const useWide = () => useMediaQuery(WIDE, matchMedia(WIDE).matches) ?? false;

/** The heat map where there is no room beside the list: one map, before or after treatment. */
export function HeatButton({ d, view, go }: Props) {
  const [when, setWhen] = useState<'inherent' | 'residual'>('residual');
  const isWide = useWide();
  if (isWide) return null;
  return (
    <Popover width={320} position="bottom-end" trapFocus>
      <Popover.Target>
        <Button size="xs" variant="default" leftSection={<IconGridDots size={15} stroke={1.6} />} visibleFrom="sm">
          {t.scales.heatMap}
        </Button>
      </Popover.Target>
      <Popover.Dropdown className={css.popover}>
        <SegmentedControl
          fullWidth
          aria-label={t.scales.heatMap}
          value={when}
          onChange={(next) => setWhen(next as typeof when)}
          data={(['inherent', 'residual'] as const).map((value) => ({ value, label: t.scales[value] }))}
        />
        <Maps d={d} view={view} go={go} shown={[when]} />
      </Popover.Dropdown>
    </Popover>
  );
}

/** Before and after treatment, beside the list: a cell narrows the list down, and so does a status. */
export function HeatPanel(p: Props) {
  const isWide = useWide();
  if (!isWide) return null;
  return (
    <section className={css.heat} aria-label={t.scales.heatMap}>
      <h2>{t.scales.heatMap}</h2>
      <Maps {...p} shown={['inherent', 'residual']} />
      <ul className={css.statuses}>
        {Object.keys(p.d.statuses)
          .filter((key) => key !== 'archived')
          .map((key) => (
            <li key={key}>
              <StatusCount d={p.d} view={p.view} status={key} onPick={() => p.go({ status: key })} />
            </li>
          ))}
      </ul>
    </section>
  );
}

function Maps({ d, view, go, shown }: Props & { shown: ('inherent' | 'residual')[] }) {
  const { data } = useMatrix(d, view);
  return (
    <>
      <div className={css.maps}>
        {shown.map((when) => (
          <div key={when}>
            {shown.length > 1 && <h3>{t.scales[when]}</h3>}
            <Ratings d={d} view={view} go={go} when={when} cells={data?.[when]} />
          </div>
        ))}
      </div>
      <HeatLegend appetite={shown.includes('residual') ? d.appetite : undefined} />
      {data && data.notAssessed > 0 && (
        <button type="button" className="plain link" onClick={() => go({ isAssessed: 'false' })}>
          {t.scales.notAssessed(data.notAssessed)}
        </button>
      )}
    </>
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
      appetite={when === 'residual' ? d.appetite : undefined}
      selected={l && i ? { l, i } : undefined}
      onSelect={(cell) =>
        go({ ...noCell(d), ...(cell ? { [likelihood]: likelihoods[cell.l - 1], [impact]: impacts[cell.i - 1] } : {}) })
      }
    />
  );
}

type CountProps = { d: Definition; view: Search; status: string; onPick: () => void };

function StatusCount({ d, view, status, onPick }: CountProps) {
  const count = useTotal(d.path, { ...filterOf(queryOf(d, view)), status });
  const { label, ...glyph } = statusOf(d, status);
  return (
    <button type="button" className={`plain ${css.status}`} onClick={onPick}>
      <Glyph {...glyph} />
      <span>{label}</span>
      <b className="num">{count ?? ''}</b>
    </button>
  );
}
