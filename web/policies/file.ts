import { api, type Schemas } from '../api/client';
import { words } from '../api/problem';
import { upload } from '../api/upload';
import { toast } from '../parts/toast';
import { patch } from './queries';

/** Attaches a file and makes it the policy's text. */
export async function attachText(id: string, file: File, onProgress: (share: number) => void) {
  const form = new FormData();
  form.append('file', file);
  const attached = await upload<Schemas['Attachment']>(`/v1/policies/${id}/attachments`, form, onProgress);
  await patch(id, { fileId: attached.id });
}

/** Opens the file that is a policy's text, by a link that works for a while. */
export async function openText(id: string) {
  try {
    const { data } = await api.GET('/v1/policies/{id}/file', { params: { path: { id } } });
    if (data) location.assign(data.downloadUrl);
  } catch (problem) {
    toast(words(problem), { bad: true });
  }
}
