import type { Schemas } from '../api/client';
import { t } from '../texts';

type Piece = NonNullable<Schemas['ControlView']['readiness']>['missing'][number];

/** The pieces that a control, or the controls of a requirement, lack before they are ready. */
export function Missing({ pieces }: { pieces: Piece[] }) {
  if (pieces.length === 0) return null;
  return (
    <ul className="missing" aria-label={t.controls.missing.label}>
      {pieces.map((piece) => (
        <li key={piece}>{t.controls.missing[piece]}</li>
      ))}
    </ul>
  );
}
