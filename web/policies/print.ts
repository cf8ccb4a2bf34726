import { download } from '../api/download';
import { words } from '../api/problem';
import { toast } from '../parts/toast';

/** Downloads a policy as PDF: as it is, or one of its versions. */
export function printed(id: string, version?: number) {
  const which = version === undefined ? '' : `?version=${version}`;
  void download(`/v1/policies/${id}/pdf${which}`).catch((problem) => toast(words(problem), { bad: true }));
}
