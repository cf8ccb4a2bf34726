import { orgFetch } from './demands';
import { organization } from './organization';
import { problemOf } from './problem';

/** Fetches a file with the reader's credentials. */
export async function fetchFile(path: string): Promise<Response> {
  const response = await orgFetch(path, { headers: { 'X-Organization-Id': organization() ?? '' } });
  if (!response.ok) throw await problemOf(response);
  return response;
}

/** Fetches a file and saves it under the name that the server gives it. */
export async function download(path: string) {
  await saveResponse(await fetchFile(path));
}

/** Saves the body of an answer under the name that the server gives it. */
export async function saveResponse(response: Response) {
  const name = /filename="?([^";]+)"?/.exec(response.headers.get('Content-Disposition') ?? '')?.[1] ?? 'download';
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
