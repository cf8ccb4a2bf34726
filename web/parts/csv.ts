/** The first rows of a table with commas or semicolons; quotes may hold either, and line breaks. */
export function split(text: string): string[][] {
  const bare = text.replace(/^\uFEFF/, '');
  const mark = separator(bare);
  const rows: string[][] = [[]];
  let cell = '';
  let quoted = false;
  for (let at = 0; at < bare.length; at += 1) {
    const sign = bare[at];
    if (quoted) {
      if (sign === '"' && bare[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else if (sign === '"') quoted = false;
      else cell += sign;
    } else if (sign === '"' && cell === '') quoted = true;
    else if (sign === mark) {
      rows.at(-1)?.push(cell);
      cell = '';
    } else if (sign === '\n') {
      rows.at(-1)?.push(cell.replace(/\r$/, ''));
      cell = '';
      rows.push([]);
    } else cell += sign;
  }
  rows.at(-1)?.push(cell.replace(/\r$/, ''));
  return rows.filter((row) => row.length > 1 || row[0] !== '');
}

/** Whichever the first line has more of. */
function separator(text: string): string {
  const line = text.slice(0, text.search(/\r?\n|$/));
  return line.split(';').length > line.split(',').length ? ';' : ',';
}

/** Rows of cells as a table with commas. */
export function joined(rows: string[][]): string {
  const quote = (cell: string) => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return rows.map((row) => row.map(quote).join(',')).join('\n');
}

/** The rows with these names for their columns; columns without a name are left out. */
export function renamed(
  rows: string[][],
  names: string[],
  read: (name: string, cell: string) => string = (_, cell) => cell,
): string {
  const kept = names.flatMap((name, at) => (name ? [at] : []));
  const lines = rows.map((row) => kept.map((at) => read(names[at] ?? '', row[at] ?? '')));
  return joined([kept.map((at) => names[at] ?? ''), ...lines]);
}
