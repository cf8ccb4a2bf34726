import { useNavigate } from '@tanstack/react-router';
import { $api } from '../api/client';
import { impacts, likelihoods, useCriteria } from '../api/criteria';
import { counts, HeatLegend, HeatMap } from '../parts/HeatMap';
import { t } from '../texts';
import css from './Home.module.css';

/** Before and after treatment, side by side. A cell leads to its risks. */
export function RiskMaps() {
  const { data } = $api.useQuery('get', '/v1/risks/matrix');
  const { appetite } = useCriteria();
  const navigate = useNavigate();
  const open = (likelihood: string, impact: string) => (cell: { l: number; i: number } | undefined) => {
    if (cell) void navigate({ to: '/risks', search: { [likelihood]: likelihoods[cell.l - 1], [impact]: impacts[cell.i - 1] } });
  };
  return (
    <>
      <div className={css.maps}>
        <div>
          <p className="t3">{t.scales.before}</p>
          <HeatMap label={t.scales.before} counts={counts(data?.inherent)} onSelect={open('likelihood', 'impact')} axes={false} />
        </div>
        <div>
          <p className="t3">{t.scales.after}</p>
          <HeatMap
            label={t.scales.after}
            counts={counts(data?.residual)}
            onSelect={open('residualLikelihood', 'residualImpact')}
            appetite={appetite}
            axes={false}
          />
        </div>
      </div>
      <HeatLegend appetite={appetite} />
    </>
  );
}
