import { download, fetchFile } from '../api/download';
import { words } from '../api/problem';
import { toast } from '../parts/toast';

const addressOf = (id: string, version?: number) => `/v1/policies/${id}/pdf${version === undefined ? '' : `?version=${version}`}`;

const tell = (problem: unknown) => void toast(words(problem), { bad: true });

/** Downloads a policy as PDF: as it is, or one of its versions. */
export function downloadPolicy(id: string, version?: number) {
  void download(addressOf(id, version)).catch(tell);
}

/** Prints the PDF of a policy; a browser that cannot show PDFs downloads it. */
export async function printPolicy(id: string, version?: number) {
  if (!navigator.pdfViewerEnabled) return downloadPolicy(id, version);
  try {
    const file = await fetchFile(addressOf(id, version));
    const frame = document.createElement('iframe');
    frame.style.display = 'none';
    frame.src = URL.createObjectURL(await file.blob());
    frame.onload = () => frame.contentWindow?.print();
    document.getElementById('printed')?.remove();
    frame.id = 'printed';
    document.body.append(frame);
  } catch (problem) {
    tell(problem);
  }
}
