/** The width of the light border that readers need, in modules. */
const QUIET = 4;

/** The dark modules of a code as one path: a rectangle for each run of a row. */
export function pathOf(rows: string[]): string {
  return rows
    .flatMap((row, y) =>
      [...row.matchAll(/1+/g)].map(({ index, 0: run }) => `M${index + QUIET} ${y + QUIET}h${run.length}v1h-${run.length}z`),
    )
    .join('');
}

/** A QR code, dark on light in every colour scheme. */
export function QrCode({ rows, label, size = 176 }: { rows: string[]; label: string; size?: number }) {
  const side = rows.length + 2 * QUIET;
  return (
    <svg role="img" aria-label={label} width={size} height={size} viewBox={`0 0 ${side} ${side}`} shapeRendering="crispEdges">
      <rect width={side} height={side} fill="var(--qr-light)" />
      <path d={pathOf(rows)} fill="var(--qr-dark)" />
    </svg>
  );
}
