import { useElementSize } from '@mantine/hooks';

/** A value that is missing is before there was any. */
export type Series = { name: string; values: (number | undefined)[] };
const dash = ['', '6 3', '2 3', '8 3 2 3', ''];

/** Few lines, named where they end. Colour and dash pattern both tell them apart. */
export function TrendLines({
  series,
  labels,
  min,
  max,
  height = 176,
  caption,
}: {
  series: Series[];
  labels: string[];
  min: number;
  max: number;
  height?: number;
  caption: string;
}) {
  const { ref, width: w } = useElementSize();
  const left = 30,
    right = 8,
    top = 8,
    bottom = 22;
  const n = series[0]?.values.length ?? 2;
  const x = (i: number) => left + (i / (n - 1)) * Math.max(0, w - left - right);
  const y = (v: number) => top + (1 - (v - min) / (max - min)) * (height - top - bottom);
  const ticks = [0, 1, 2].map((t) => min + ((max - min) / 2) * t);
  const text = {
    fill: 'var(--c-text-3)',
    fontSize: 12,
    fontFamily: 'var(--font-ui)',
    style: { fontVariantNumeric: 'tabular-nums' },
  } as const;
  return (
    <div ref={ref} style={{ minHeight: height }}>
      {w > 0 && (
        <svg width={w} height={height} role="img" aria-label={caption} style={{ display: 'block', overflow: 'visible' }}>
          {ticks.map((t) => (
            <g key={t}>
              <line x1={left} x2={w - right} y1={y(t)} y2={y(t)} stroke="var(--c-line)" />
              <text x={left - 8} y={y(t) + 4} textAnchor="end" {...text}>
                {t}
              </text>
            </g>
          ))}
          {labels.map((l, i) => (
            <text
              key={l}
              x={x((i * (n - 1)) / (labels.length - 1))}
              y={height - 4}
              textAnchor={i === 0 ? 'start' : i === labels.length - 1 ? 'end' : 'middle'}
              {...text}
            >
              {l}
            </text>
          ))}
          {series.map((s, k) => (
            <g key={s.name} stroke={`var(--series-${k + 1})`}>
              <polyline
                points={s.values.flatMap((v, i) => (v === undefined ? [] : [`${x(i)},${y(v)}`])).join(' ')}
                fill="none"
                strokeWidth={2}
                strokeDasharray={dash[k]}
                strokeLinejoin="round"
                strokeLinecap="round"
              />
              <circle
                cx={x(n - 1)}
                cy={y(s.values[n - 1] ?? 0)}
                r={3.5}
                fill={`var(--series-${k + 1})`}
                stroke="var(--c-canvas)"
                strokeWidth={1.5}
              />
            </g>
          ))}
        </svg>
      )}
    </div>
  );
}

export function LineKey({ n }: { n: number }) {
  return (
    <svg width="20" height="8" aria-hidden="true">
      <line
        x1="1"
        x2="19"
        y1="4"
        y2="4"
        stroke={`var(--series-${n + 1})`}
        strokeWidth="2"
        strokeDasharray={dash[n]}
        strokeLinecap="round"
      />
    </svg>
  );
}
