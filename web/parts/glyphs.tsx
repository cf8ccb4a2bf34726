/** Status glyphs: shape first, colour second, so a status reads without colour. */
export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'mute';
export type Shape = 'ring' | 'quarter' | 'half' | 'threequarter' | 'full' | 'check' | 'cross' | 'alert' | 'dash' | 'clock';

const colour: Record<Tone, string> = {
  ok: 'var(--c-ok)',
  warn: 'var(--c-warn)',
  bad: 'var(--c-bad)',
  info: 'var(--c-accent-text)',
  mute: 'var(--c-text-3)',
};

const wedge = { quarter: 0.25, half: 0.5, threequarter: 0.75 } as const;

export function Glyph({ shape, tone, size = 14 }: { shape: Shape; tone: Tone; size?: number }) {
  const c = colour[tone];
  const line = {
    fill: 'none',
    stroke: 'var(--c-canvas)',
    strokeWidth: 1.6,
    strokeLinecap: 'round',
    strokeLinejoin: 'round',
  } as const;
  return (
    <svg width={size} height={size} viewBox="0 0 14 14" aria-hidden="true" style={{ flex: 'none', display: 'block' }}>
      {shape === 'alert' ? (
        <>
          <path d="M7 1.1 13.2 12.2H.8Z" fill={c} stroke={c} strokeWidth="1.2" strokeLinejoin="round" />
          <path d="M7 5v3.2M7 10.2v.1" {...line} />
        </>
      ) : shape === 'check' || shape === 'cross' ? (
        <>
          <circle cx="7" cy="7" r="6.4" fill={c} />
          <path d={shape === 'check' ? 'M4.3 7.2 6.2 9l3.5-3.8' : 'm5 5 4 4m0-4-4 4'} {...line} />
        </>
      ) : (
        <>
          <circle
            cx="7"
            cy="7"
            r="5.7"
            fill="none"
            stroke={c}
            strokeWidth="1.5"
            strokeDasharray={shape === 'dash' ? '2.2 2.2' : undefined}
          />
          {shape === 'full' && <circle cx="7" cy="7" r="3.4" fill={c} />}
          {shape === 'clock' && <path d="M7 4v3.2l2 1.2" fill="none" stroke={c} strokeWidth="1.4" strokeLinecap="round" />}
          {shape in wedge && (
            <circle
              cx="7"
              cy="7"
              r="1.8"
              fill="none"
              stroke={c}
              strokeWidth="3.6"
              transform="rotate(-90 7 7)"
              strokeDasharray={`${wedge[shape as keyof typeof wedge] * 11.31} 11.31`}
            />
          )}
        </>
      )}
    </svg>
  );
}
