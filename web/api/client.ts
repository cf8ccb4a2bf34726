import createFetch, { type Middleware } from 'openapi-fetch';
import createHooks from 'openapi-react-query';
import { forgetUndoAfter } from '../parts/undo';
import { t } from '../texts';
import { orgFetch } from './demands';
import { ask, canAsk } from './expiry';
import { organization } from './organization';
import { Problem, problemOf } from './problem';
import type { components, paths } from './schema';

export type Schemas = components['schemas'];

/** Names the organization, asks for a new sign-in when the session has ended, and turns a failure into a Problem. */
const middleware: Middleware = {
  onRequest({ request }) {
    const id = organization();
    if (id && !request.headers.has('X-Organization-Id')) request.headers.set('X-Organization-Id', id);
  },
  async onResponse({ response, request }) {
    if (response.ok) forgetUndoAfter(request.method, request.url);
    if (response.ok || response.status === 304) return;
    const problem = await problemOf(response);
    if (response.status === 401 && !request.url.includes('/v1/auth/')) {
      void ask();
      // What the API says is about keys and headers.
      if (canAsk()) throw new Problem(401, problem.code, t.expired.text);
    }
    throw problem;
  },
  onError({ error }) {
    return error instanceof Problem ? error : Problem.unreachable();
  },
};

// The global is looked up at each request, so that tests can replace it.
export const api = createFetch<paths>({ baseUrl: '/', fetch: (request) => orgFetch(request) });
api.use(middleware);

/** `$api.useQuery('get', '/v1/risks', { params })` */
export const $api = createHooks(api);
