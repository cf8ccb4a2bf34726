import { askedFor } from '../parts/search';
import type { Search } from '../routes';

/** The words of the address that the list takes. */
export function queryOf(view: Search): Record<string, string> {
  return { sort: 'createdAt', order: 'asc', ...askedFor(view) };
}
