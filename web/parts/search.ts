import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { Search } from '../routes';

/** What the address says beside the path: filters, order, the open record, a date. Back and a pasted link restore it. */
export function useView() {
  const view = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const change = useCallback(
    (next: Search, options: { replace?: boolean } = {}) =>
      navigate({
        to: '.',
        search: (old: Search) => trimmed({ ...old, ...next }),
        replace: options.replace ?? false,
        resetScroll: false,
      }),
    [navigate],
  );
  return { view, change };
}

/** The day that is shown, for a link to something of that day. */
export const pastOf = ({ asOf }: Search): Record<string, string> => (asOf ? { asOf } : {});

/** An address for a link that the browser opens by itself. */
export const addressOf = (path: string, search: Search) => {
  const query = new URLSearchParams(trimmed(search) as Record<string, string>).toString();
  return query ? `${path}?${query}` : path;
};

const trimmed = (search: Search): Search =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined && value !== ''));
