import type { Schemas } from '../api/client';

export type Row = Schemas['SoaRow'];
export type Answer = Schemas['SoaAnswer'];
export type Gap = Row['gaps'][number];
/** What somebody says of one control; what is left out stays. */
export type Patch = Partial<
  Pick<Schemas['SaveSoaAnswer'], 'isApplicable' | 'justification' | 'implementationStatus' | 'ownerId' | 'obligation'>
>;

/** How a row stands: nobody answered, an answer waits for a person, something lacks, all is there, it does not apply. */
export type State = 'open' | 'proposed' | 'gap' | 'done' | 'out';

export function stateOf({ answer, gaps }: Row): State {
  if (!answer) return 'open';
  if (answer.state === 'proposed') return 'proposed';
  if (gaps.length > 0) return 'gap';
  return answer.isApplicable ? 'done' : 'out';
}

export type Theme = { name: string; rows: Row[] };

/** The rows under their themes, in the order in which they come. */
export function themes(rows: Row[]): Theme[] {
  const all = new Map<string, Row[]>();
  for (const row of rows) all.set(row.question.theme, [...(all.get(row.question.theme) ?? []), row]);
  return [...all].map(([name, of]) => ({ name, rows: of }));
}

/** "5" of 5.1, 5.2 and 5.3; nothing if the codes do not begin alike. */
export function clause({ rows }: Theme): string | undefined {
  const heads = new Set(rows.map(({ question }) => /^(\d+)\./.exec(question.code)?.[1]));
  return heads.size === 1 ? [...heads][0] : undefined;
}

/** What a reader would count. */
export function counts(rows: Row[]) {
  const how = rows.map(stateOf);
  return {
    all: rows.length,
    applicable: rows.filter(({ answer }) => answer?.isApplicable).length,
    complete: how.filter((state) => state === 'done' || state === 'out').length,
    answered: how.filter((state) => state !== 'open' && state !== 'proposed').length,
    proposed: how.filter((state) => state === 'proposed').length,
    gaps: rows.filter(({ gaps }) => gaps.length > 0).length,
  };
}

/** The next row that lacks something, from the row after this one on and around. */
export function nextGap(rows: Row[], from: string | undefined, lacks: (row: Row) => boolean = hasGap): Row | undefined {
  const at = rows.findIndex(({ question }) => question.id === from);
  return [...rows.slice(at + 1), ...rows.slice(0, at + 1)].find(lacks);
}

export const hasGap = ({ gaps }: Row) => gaps.length > 0;
/** Without an answer that a person has confirmed, nothing can be submitted. */
export const isUnanswered = ({ gaps }: Row) => gaps.includes('answer');

/** The answer as it will be, by the server's rule: turned into its opposite, it loses its reasons. */
export function patched(row: Row, patch: Patch): Answer {
  const before = row.answer;
  const isApplicable = patch.isApplicable ?? before?.isApplicable ?? true;
  const kept = before?.isApplicable === isApplicable ? before : undefined;
  const said = <K extends 'justification' | 'obligation' | 'implementationStatus'>(field: K) =>
    (patch[field] === undefined ? kept?.[field] : patch[field] || null) ?? null;
  return {
    questionId: row.question.id,
    isApplicable,
    justification: said('justification') as string | null,
    obligation: said('obligation') as string | null,
    implementationStatus: said('implementationStatus') as Answer['implementationStatus'],
    ownerId: (patch.ownerId === undefined ? before?.ownerId : patch.ownerId) ?? null,
    source: 'person',
    state: 'confirmed',
    updatedAt: new Date().toISOString(),
    updatedBy: before?.updatedBy ?? null,
  };
}

/** A row with an answer that is on its way; what else it lacks is known when the server has it. */
export function answered(row: Row, answer: Answer): Row {
  const gaps = answer.isApplicable ? row.gaps.filter((gap) => gap !== 'answer') : [];
  return { ...row, answer, gaps, drivers: { ...row.drivers, ownerId: answer.ownerId, obligation: answer.obligation } };
}

/** All that an answer says, to say it again. */
export const whole = ({ isApplicable, justification, implementationStatus, ownerId, obligation }: Answer): Patch => ({
  isApplicable,
  justification,
  implementationStatus,
  ownerId,
  obligation,
});

/** "R-7" of "R-7 Laptops are lost". */
export const reference = (label: string | null) => label?.split(' ')[0] ?? '';
