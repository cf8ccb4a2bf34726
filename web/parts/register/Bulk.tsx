import { useMe } from '../../api/session';
import { t } from '../../texts';
import { AssignSelect, DeleteButton, each, StatusMenu } from '../bulk';
import { change, remove } from './data';
import type { Definition } from './definition';

/** What can be done to all selected records. */
export function Bulk({ d, ids, onDone }: { d: Definition; ids: string[]; onDone: () => void }) {
  const { can } = useMe();
  const all = (act: (id: string) => Promise<unknown>) => each(d.path, ids, act).then(onDone);
  return (
    <>
      <StatusMenu statuses={d.statuses} onPick={(status) => void all((id) => change(d, id, { status }))} />
      <AssignSelect label={t.bulk.owner} onPick={(assigneeId) => void all((id) => change(d, id, { assigneeId }))} />
      {can(`${d.entity}:delete`) && <DeleteButton count={ids.length} act={() => all((id) => remove(d, id))} />}
    </>
  );
}
