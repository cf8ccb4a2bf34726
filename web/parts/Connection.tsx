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

/** Says that the server cannot be reached or the session has ended, and what waits for it. */
export function ConnectionBar() {
  const isOnline = useSyncExternalStore(follow, () => navigator.onLine);
  const edits = useWaiting();
  const waiting = edits.length;
  if (isOnline && waiting === 0) return null;
  if (isOnline && edits.every(({ isSignedOut }) => isSignedOut))
    return (
      <div className={css.bar} role="status">
        <strong>{t.offline.signedOut}</strong> {t.offline.waitingForSignIn(waiting)}
      </div>
    );
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
