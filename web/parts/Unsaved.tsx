import type { RecordPath, useEdits } from '../api/records';
import { Conflict } from './Conflict';
import { NotSaved } from './Connection';

type Props<P extends RecordPath> = {
  edits: ReturnType<typeof useEdits<P>>;
  labels: Record<string, string>;
  /** How the value of a field reads. */
  read: (field: string, value: unknown) => string;
};

/** What the reader typed and the server does not have: edits that wait for a connection, or for a decision. */
export function Unsaved<P extends RecordPath>({ edits, labels, read }: Props<P>) {
  return (
    <>
      <NotSaved names={edits.waiting} isSignedOut={edits.isSignedOut} labels={labels} />
      {edits.conflict && <Conflict conflict={edits.conflict} labels={labels} read={read} onSettle={edits.settle} />}
    </>
  );
}
