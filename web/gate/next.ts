/** The page of this console that a sign-in leads to; any other address leads home. */
export function nextPage(next: string | undefined, origin = location.origin): string {
  if (next === undefined || !URL.canParse(next, origin)) return '/';
  const url = new URL(next, origin);
  return url.origin === origin ? url.pathname + url.search + url.hash : '/';
}
