import type { useEdits } from '../api/records';
import { Conflict } from './Conflict';
import { NotSaved } from './Connection';

type Props<T extends object> = {
  edits: ReturnType<typeof useEdits<T>>;
  labels: Record<string, string>;
  /** How the value of a field reads. */
  read: (field: string, value: unknown) => string;
};

/** What the reader typed and the server does not have: edits that wait for a connection, or for a decision. */
export function Unsaved<T extends object>({ edits, labels, read }: Props<T>) {
  return (
    <>
      <NotSaved names={edits.waiting} labels={labels} />
      {edits.conflict && <Conflict conflict={edits.conflict} labels={labels} read={read} onSettle={edits.settle} />}
    </>
  );
}
