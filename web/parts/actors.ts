import type { Schemas } from '../api/client';
import { t } from '../texts';

/** The name of the actor of an entry of the audit log; undefined if it has none. */
export const actorName = ({ type, name, memberName }: Schemas['ActorView']): string | undefined =>
  type === 'directory' ? t.record.directory : (name ?? memberName ?? undefined);
