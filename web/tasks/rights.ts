import { usePeople } from '../api/people';
import { useMe } from '../api/session';
import { useView } from '../parts/search';
import type { Task } from './fields';

/** Who may only do what is assigned to them changes the status of that, and nothing else. The past is nobody's to change. */
export function useRights() {
  const { can, memberId } = useMe();
  const { view } = useView();
  const isNow = view.asOf === undefined;
  const mayChange = isNow && can('task:update');
  return {
    mayChange,
    mayMove: (task: Task) => mayChange || (isNow && can('task:assigned') && task.assigneeId === memberId),
  };
}

/** Names of people; one's own also for those who do not see the others. */
export function useNames() {
  const people = usePeople();
  const { user, memberId } = useMe();
  return (id: string | null | undefined) => people.name(id) ?? (id && id === memberId ? user?.name : undefined);
}
