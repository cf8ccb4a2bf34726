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

/** Words of the address about what is open beside the list. */
const OPEN = ['open', 'to', 'new', 'import', 'library', 'templates', 'tab'];
/** Words about the day that is shown. */
const DAY = ['asOf', 'until', 'changed'];
/** Words about the screen, which the API does not know. */
const SCREEN = ['density', 'columns', 'group', 'view', 'until', 'changed'];

const without = (view: Search, words: string[]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(view).flatMap(([key, value]) => (value === undefined || words.includes(key) ? [] : [[key, value]])),
  );

/** The words of the address that a list is asked for. */
export const askedFor = (view: Search) => without(view, [...OPEN, ...SCREEN]);

/** The words that a saved view keeps: the list and how it is shown, on whatever day. `days` are filters of the list. */
export const arranged = (view: Search, days: readonly string[] = []) =>
  without(
    view,
    [...OPEN, ...DAY].filter((word) => !days.includes(word)),
  );

/** The day that is shown, for a link to something of that day. */
export const pastOf = ({ asOf }: Search): Record<string, string> => (asOf ? { asOf } : {});

/** An address for a link that the browser opens by itself. */
export const addressOf = (path: string, search: Search) => {
  const query = new URLSearchParams(trimmed(search) as Record<string, string>).toString();
  return query ? `${path}?${query}` : path;
};

const trimmed = (search: Search): Search =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined && value !== ''));
