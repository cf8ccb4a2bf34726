import { useSyncExternalStore } from 'react';

/** A value that outlives the page that set it, and that pages follow. */
export function store<T>(first: T) {
  let value = first;
  const followers = new Set<() => void>();
  const follow = (follower: () => void) => {
    followers.add(follower);
    return () => followers.delete(follower);
  };
  const get = () => value;
  return {
    get,
    set(next: T) {
      value = next;
      for (const follower of followers) follower();
    },
    use: () => useSyncExternalStore(follow, get),
  };
}
