import { useEffect } from 'react';
import { orgFetch } from './demands';
import { organization } from './organization';
import { refetch } from './query';

const ACCESS_REVIEW = '/v1/organization/access-review';
const KEYS = ['/v1/organization/api-keys', '/v1/organization/service-accounts'];

/** What was fetched from these paths changes with such an entity. */
export const paths: Record<string, string[]> = {
  organization: ['/v1/organization', 'session'],
  member: ['/v1/people', '/v1/organization/sign-in-policy', ACCESS_REVIEW, 'session'],
  user: ['/v1/people', ACCESS_REVIEW, 'session'],
  session: ['/v1/auth'],
  second_factor: ['/v1/auth', '/v1/people', ACCESS_REVIEW],
  sign_in_policy: ['/v1/organization/sign-in-policy', '/v1/auth/security', 'session', ...KEYS],
  mail_domain: ['/v1/organization/domains'],
  sso_connection: ['/v1/organization/sso-connections', ACCESS_REVIEW],
  directory: ['/v1/organization/directory'],
  directory_token: ['/v1/organization/directory'],
  directory_user: ['/v1/organization/directory', '/v1/people', ACCESS_REVIEW],
  directory_group: ['/v1/organization/directory'],
  sso_identity: ['/v1/people', '/v1/auth', ACCESS_REVIEW],
  'user-notifications': ['/v1/auth'],
  api_key: ['/v1/organization'],
  service_account: KEYS,
  secret: ['/v1/organization'],
  'automation-hosts': ['/v1/organization'],
  chat_channel: ['/v1/chat-channels'],
  risk: ['/v1/risks'],
  risk_criteria: ['/v1/risk-criteria'],
  vendor: ['/v1/vendors'],
  task: ['/v1/tasks', '/v1/frameworks', '/v1/programme'],
  automation: ['/v1/tasks'],
  'automation-run': ['/v1/tasks'],
  comment: ['/v1/comments'],
  attachment: ['/v1/tasks', '/v1/risks', '/v1/vendors', '/v1/policies', '/v1/comments'],
  policy: ['/v1/policies', '/v1/frameworks', '/v1/programme'],
  policy_version: ['/v1/policies'],
  policy_signature: ['/v1/policies'],
  framework: ['/v1/frameworks'],
  control: ['/v1/controls', '/v1/frameworks', '/v1/programme', '/v1/soa'],
  programme: ['/v1/programme'],
  context_entry: ['/v1/context'],
  soa_document: ['/v1/soa'],
  soa_answer: ['/v1/soa'],
  portal: ['/v1/trust-portal'],
  portal_post: ['/v1/trust-portal'],
  view: ['/v1/views'],
  certificate: ['/v1/trust-portal'],
  subscriber: ['/v1/trust-portal'],
  access_request: ['/v1/trust-access'],
  access_grant: ['/v1/trust-access'],
  nda: ['/v1/trust-access'],
  visit: ['/v1/trust-access'],
  operation: [],
  export: [],
};

/** Reads the journal as it grows, so that changes of others appear without a reload. */
export function useLive() {
  useEffect(() => {
    const stop = new AbortController();
    void listen(stop.signal);
    return () => stop.abort();
  }, []);
}

async function listen(signal: AbortSignal) {
  let last: string | undefined;
  for (let failures = 0; !signal.aborted; ) {
    const headers = new Headers({ Accept: 'text/event-stream', 'X-Organization-Id': organization() ?? '' });
    if (last) headers.set('Last-Event-ID', last);
    try {
      const response = await orgFetch('/v1/events', { headers, signal });
      // There is nothing to wait for.
      if ([403, 404].includes(response.status)) return;
      if (!response.ok || !response.body) throw new Error(String(response.status));
      failures = 0;
      for await (const event of events(response.body)) {
        last = event.id ?? last;
        await tell(event);
      }
    } catch {
      failures += 1;
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(30_000, 1_000 * 2 ** failures)));
  }
}

type ServerEvent = { id?: string; event?: string; data?: string };

async function tell({ event, data }: ServerEvent) {
  if (event === 'reset') return refetch('/v1/', 'session');
  if (!data) return;
  const { entityType } = JSON.parse(data) as { entityType: string };
  // A change may notify somebody; notifications have no events of their own.
  await refetch(...(paths[entityType] ?? []), '/v1/audit-logs', '/v1/inbox');
}

/** The events of a stream, as they come. */
export async function* events(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event: ServerEvent = {};
      for (const line of block.split('\n')) {
        const at = line.indexOf(':');
        const [name, text] = [line.slice(0, at), line.slice(at + 1).replace(/^ /, '')];
        if (name === 'id' || name === 'event') event[name] = text;
        if (name === 'data') event.data = event.data === undefined ? text : `${event.data}\n${text}`;
      }
      if (event.event || event.data) yield event;
    }
  }
}
