/** Looked for in this order: most browsers also call themselves by the names of those they resemble. */
const BROWSERS: [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const SYSTEMS: [RegExp, string][] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/Linux|X11/, 'Linux'],
];

/** "Firefox, Linux" of what a browser calls itself; a program keeps its own name. */
export function browser(userAgent: string | null): string | undefined {
  if (!userAgent) return undefined;
  const found = (of: [RegExp, string][]) => of.find(([pattern]) => pattern.test(userAgent))?.[1];
  const name = found(BROWSERS) ?? userAgent.split(/[\s/]/)[0];
  return [name, found(SYSTEMS)].filter(Boolean).join(', ');
}
