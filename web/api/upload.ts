import { whenMet } from './demands';
import { ask } from './expiry';
import { organization } from './organization';
import { Problem, problemIn } from './problem';

/** Sends a form, or JSON, and tells how much of it is on its way, which `fetch` cannot. */
export async function upload<T>(path: string, body: FormData | object, onProgress: (share: number) => void): Promise<T> {
  const result = await whenMet(
    () => sent<T>(path, body, onProgress).catch((problem: Problem) => problem),
    (result) => result,
  );
  if (result instanceof Problem) throw result;
  return result;
}

function sent<T>(path: string, body: FormData | object, onProgress: (share: number) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', path);
    const id = organization();
    if (id) request.setRequestHeader('X-Organization-Id', id);
    const isForm = body instanceof FormData;
    if (!isForm) request.setRequestHeader('Content-Type', 'application/json');
    request.responseType = 'text';
    request.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total);
    request.onerror = () => reject(Problem.unreachable());
    request.onload = () => {
      if (request.status < 300) return resolve(JSON.parse(request.responseText) as T);
      if (request.status === 401) void ask();
      try {
        reject(problemIn(request.status, JSON.parse(request.responseText)));
      } catch {
        reject(Problem.unreachable());
      }
    };
    request.send(isForm ? body : JSON.stringify(body));
  });
}

/** The content of a file as the API takes it. */
export function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
