/** The page of this console that a sign-in leads to; any other address leads home. */
export function nextPage(next: string | undefined, origin = location.origin): string {
  if (next === undefined || !URL.canParse(next, origin)) return '/';
  const url = new URL(next, origin);
  // A path with two slashes at its beginning would be the name of a host.
  return url.origin === origin ? url.pathname.replace(/^\/*/, '/') + url.search + url.hash : '/';
}
