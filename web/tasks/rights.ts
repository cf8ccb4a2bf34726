import { usePeople } from '../api/people';
import { useMe } from '../api/session';
import type { Task } from './fields';

/** Who may only do what is assigned to them changes the status of that, and nothing else. */
export function useRights() {
  const { can, memberId } = useMe();
  const mayChange = can('task:update');
  return {
    mayChange,
    mayMove: (task: Task) => mayChange || (can('task:assigned') && task.assigneeId === memberId),
  };
}

/** Names of people; one's own also for those who do not see the others. */
export function useNames() {
  const people = usePeople();
  const { user, memberId } = useMe();
  return (id: string | null | undefined) => people.name(id) ?? (id && id === memberId ? user?.name : undefined);
}
