import { useSyncExternalStore } from 'react';
import { useWaiting } from '../api/waiting';
import { t } from '../texts';
import css from './Connection.module.css';

function follow(follower: () => void) {
  addEventListener('online', follower);
  addEventListener('offline', follower);
  return () => {
    removeEventListener('online', follower);
    removeEventListener('offline', follower);
  };
}

/** Says that the server cannot be reached, and what waits for it. */
export function ConnectionBar() {
  const isOnline = useSyncExternalStore(follow, () => navigator.onLine);
  const waiting = useWaiting().length;
  if (isOnline && waiting === 0) return null;
  return (
    <div className={css.bar} role="status">
      <strong>{t.offline.bar}</strong> {waiting > 0 ? t.offline.waiting(waiting) : t.offline.none}
    </div>
  );
}

/** The fields of a record whose values wait to be saved. */
type NotSavedProps = { names: string[]; isSignedOut: boolean; labels: Record<string, string> };

export function NotSaved({ names, isSignedOut, labels }: NotSavedProps) {
  if (names.length === 0) return null;
  return (
    <p className={css.note} role="status">
      {t.offline[isSignedOut ? 'session' : 'fields'](names.map((name) => labels[name] ?? name).join(', '))}
    </p>
  );
}
