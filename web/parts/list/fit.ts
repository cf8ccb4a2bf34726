/** The width below which names cannot be read. */
export const NAME = 240;
/** What the outer cells have more than the others. */
export const EDGES = 36;
export const PICK = 52;

type Sized = { key: string; width?: number; opens?: boolean; priority?: number };

/** The name, which takes what the others leave, and the cell that opens the record. */
const isKept = (column: Sized) => column.opens || column.width === undefined;

/**
 * The columns that fit into a width beside a name that can be read. They drop from the end of their priorities, so that a list
 * shows the same columns at the same width whatever is in it. Without a priority a column ranks by its place.
 */
export function fitting<C extends Sized>(columns: C[], width: number, isPicked: boolean): C[] {
  const ranked = columns
    .map((column, place) => ({ column, rank: column.priority ?? 10 + place }))
    .filter(({ column }) => !isKept(column))
    .sort((one, other) => one.rank - other.rank);
  const fixed = columns.filter(isKept).reduce((sum, column) => sum + (column.width ?? NAME), 0);
  let room = width - fixed - EDGES - (isPicked ? PICK : 0);
  const kept = new Set<C>();
  for (const { column } of ranked) {
    room -= column.width ?? 0;
    if (room < 0) break;
    kept.add(column);
  }
  return columns.filter((column) => isKept(column) || kept.has(column));
}
