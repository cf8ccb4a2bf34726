import type { Schemas } from '../api/client';
import { t } from '../texts';

type Piece = Schemas['ControlView']['readiness'] extends { missing: (infer P)[] } | undefined ? P : never;

/** What a control, or all controls of a requirement, lack before they are ready; nothing where nothing is. */
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
