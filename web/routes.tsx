import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { api } from './api/client';
import { Problem } from './api/problem';
import { queries } from './api/query';
import { sessionQuery } from './api/session';
import { ErrorPage, MissingPage } from './parts/ErrorPage';
import { speakOnPages } from './texts';

/** Search parameters are plain words: filters, the open record, a date. */
export type Search = Record<string, string | undefined>;

const words = (search: Record<string, unknown>): Search =>
  Object.fromEntries(Object.entries(search).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]])));

/** Outside the console there is no frame, so the notice is the whole page. */
const Missing = () => (
  <main id="main">
    <MissingPage />
  </main>
);
const Broken = (props: ErrorComponentProps) => (
  <main id="main">
    <ErrorPage {...props} />
  </main>
);

const root = createRootRoute({
  component: Outlet,
  notFoundComponent: Missing,
  errorComponent: Broken,
  validateSearch: words,
});

/** Pages for people who are not signed in. */
type GatePage = 'SetUp' | 'SignIn' | 'Confirmed' | 'Accept' | 'Forgot' | 'Reset' | 'Unsubscribe';
const gate = <const P extends string>(path: P, name: GatePage) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(() => import('./gate/pages'), name) });

const gates = [
  gate('/setup', 'SetUp'),
  gate('/sign-in', 'SignIn'),
  gate('/sign-in/confirmed', 'Confirmed'),
  gate('/accept-invitation', 'Accept'),
  gate('/forgot-password', 'Forgot'),
  gate('/reset-password', 'Reset'),
  gate('/unsubscribe', 'Unsubscribe'),
] as const;

const console = createRoute({
  getParentRoute: () => root,
  id: 'console',
  component: lazyRouteComponent(() => import('./Console'), 'Console'),
  beforeLoad: async ({ location }) => {
    try {
      await queries.ensureQueryData(sessionQuery);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 401) throw error;
      const { data } = await api.GET('/v1/setup');
      const to = (data?.needed ? '/setup' : '/sign-in') as string;
      throw redirect({ to, search: data?.needed ? {} : { next: location.href } });
    }
  },
});

// biome-ignore lint/suspicious/noExplicitAny: pages take no properties
type Page = Promise<Record<string, any>>;
const page = <const P extends string>(path: P, load: () => Page, name: string) =>
  createRoute({ getParentRoute: () => console, path, component: lazyRouteComponent(load, name) });
/** A page with texts of its own. */
const worded = (load: () => Page) => () => Promise.all([load(), speakOnPages()]).then(([found]) => found);

const pages = [
  page('/', () => import('./home/Home'), 'Home'),
  page(
    '/inbox',
    worded(() => import('./inbox/Inbox')),
    'Inbox',
  ),
  page(
    '/risks',
    worded(() => import('./risks/List')),
    'Risks',
  ),
  page(
    '/vendors',
    worded(() => import('./vendors/List')),
    'Vendors',
  ),
  page(
    '/tasks',
    worded(() => import('./tasks/List')),
    'Tasks',
  ),
  page(
    '/tasks/$id',
    worded(() => import('./tasks/Detail')),
    'Task',
  ),
  page(
    '/plan',
    worded(() => import('./plan/Plan')),
    'Plan',
  ),
  page(
    '/plan/set-up',
    worded(() => import('./plan/SetUp')),
    'SetUp',
  ),
  page(
    '/policies',
    worded(() => import('./policies/List')),
    'Policies',
  ),
  page(
    '/policies/$id',
    worded(() => import('./policies/Detail')),
    'Policy',
  ),
  page(
    '/frameworks',
    worded(() => import('./frameworks/List')),
    'Frameworks',
  ),
  page(
    '/frameworks/$id',
    worded(() => import('./frameworks/Detail')),
    'Framework',
  ),
  page(
    '/controls',
    worded(() => import('./controls/List')),
    'Controls',
  ),
  page(
    '/applicability',
    worded(() => import('./soa/Statement')),
    'Applicability',
  ),
  page(
    '/people',
    worded(() => import('./people/List')),
    'People',
  ),
  page(
    '/people/access-review',
    worded(() => import('./people/AccessReview')),
    'AccessReview',
  ),
  page(
    '/trust-portal',
    worded(() => import('./trust/Portal')),
    'TrustPortal',
  ),
  page(
    '/audit',
    worded(() => import('./audit/Log')),
    'AuditLog',
  ),
  page(
    '/settings',
    worded(() => import('./settings/Settings')),
    'Settings',
  ),
  page(
    '/settings/$section',
    worded(() => import('./settings/Settings')),
    'Settings',
  ),
] as const;

export const router = createRouter({
  routeTree: root.addChildren([...gates, console.addChildren(pages)]),
  defaultPreload: 'intent',
  scrollRestoration: true,
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const all = new URLSearchParams(Object.entries(words(search)) as [string, string][]).toString();
    return all ? `?${all}` : '';
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
