/** Takes back the last change, until the next one. A page that is loaded anew, as on sign-out, has none. */
let last: (() => unknown) | undefined;

export function setUndo(undo: (() => unknown) | undefined) {
  last = undo;
}

/** Takes back the last change; false if there is nothing to take back. */
export function undoLast(): boolean {
  const undo = last;
  last = undefined;
  undo?.();
  return undo !== undefined;
}

/** Requests that send something without changing what a reader would take back. */
const NO_CHANGE =
  /\/v1\/(auth|inbox|views)\b|\/(ai-chat|diff|ensure-setup|list|preview[^/]*|remind|signed-url|test)$|[?&]dryRun=true/;

/** Drops the last undo after a change, so that a key never takes back something older than what was just done. */
export function forgetUndoAfter(method: string, url: string) {
  if (method !== 'GET' && method !== 'HEAD' && !NO_CHANGE.test(url)) last = undefined;
}
