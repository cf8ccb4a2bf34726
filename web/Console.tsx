import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import {
  IconAlertTriangle,
  IconBell,
  IconBuildingStore,
  IconCertificate,
  IconChecklist,
  IconFileText,
  IconGridDots,
  IconHome,
  IconLayersSubtract,
  IconRoute,
  IconSettings,
  IconShieldCheck,
  IconTimeline,
  IconUserShield,
  IconUsers,
} from '@tabler/icons-react';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import { $api } from './api/client';
import { useUnread } from './api/inbox';
import { useLive } from './api/live';
import { chooseOrganization } from './api/organization';
import { useMe, useSession } from './api/session';
import { Expiry } from './gate/Expiry';
import { Reauthentication } from './gate/Reauthentication';
import { ConnectionBar } from './parts/Connection';
import { KeySheet } from './parts/keys';
import { usePaper } from './parts/print';
import { rolesOf, roleWords } from './parts/roles';
import { type NavGroup, Shell } from './parts/Shell';
import { useShortcuts } from './parts/shortcuts';
import { signOut } from './parts/signOut';
import { undoLast } from './parts/undo';
import { speakOnPages, t } from './texts';

const Palette = lazy(() => Promise.all([import('./Palette'), speakOnPages()]).then(([found]) => found));

/** The palette is loaded when it is first asked for. Its own key works while somebody types, too. */
function usePalette() {
  const [isAsked, setAsked] = useState(false);
  const open = useCallback(() => {
    setAsked(true);
    void import('./Palette').then(({ openPalette }) => openPalette());
  }, []);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey) return;
      event.preventDefault();
      open();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [open]);
  return { isAsked, open };
}

/** How many there are, without fetching them. */
function useCounts() {
  const { can } = useMe();
  const query = { limit: 1, total: true } as const;
  const risks = $api.useQuery('get', '/v1/risks', { params: { query } }, { enabled: can('risk:read') });
  const vendors = $api.useQuery('get', '/v1/vendors', { params: { query } }, { enabled: can('vendor:read') });
  const people = $api.useQuery(
    'get',
    '/v1/people',
    { params: { query: { ...query, isActive: true } } },
    { enabled: can('member:read') },
  );
  const overdue = $api.useQuery('get', '/v1/tasks', { params: { query: { overdue: true } } });
  const tasks = overdue.data;
  return {
    risks: risks.data?.total,
    vendors: vendors.data?.total,
    people: people.data?.total,
    overdue: Array.isArray(tasks) && tasks.length > 0 ? tasks.length : undefined,
  };
}

type Guarded = Omit<NavGroup, 'items'> & { items: (NavGroup['items'][number] & { needs?: string })[] };

/** The pages that somebody's role lets them see. */
function useGroups(): NavGroup[] {
  const { can } = useMe();
  const counts = useCounts();
  const groups: Guarded[] = [
    {
      items: [
        { path: '/', label: t.nav.home, icon: IconHome },
        { path: '/tasks', label: t.nav.tasks, icon: IconChecklist, badge: counts.overdue, due: true },
      ],
    },
    {
      label: t.nav.registers,
      items: [
        { path: '/risks', label: t.nav.risks, icon: IconAlertTriangle, badge: counts.risks, needs: 'risk:read' },
        { path: '/vendors', label: t.nav.vendors, icon: IconBuildingStore, badge: counts.vendors, needs: 'vendor:read' },
        { path: '/people', label: t.nav.people, icon: IconUsers, badge: counts.people, needs: 'member:read' },
      ],
    },
    {
      label: t.nav.program,
      items: [
        { path: '/plan', label: t.nav.plan, icon: IconRoute, needs: 'programme:read' },
        { path: '/policies', label: t.nav.policies, icon: IconFileText },
        { path: '/frameworks', label: t.nav.frameworks, icon: IconLayersSubtract, needs: 'framework:read' },
        { path: '/controls', label: t.nav.controls, icon: IconShieldCheck, needs: 'control:read' },
        { path: '/applicability', label: t.nav.applicability, icon: IconGridDots, needs: 'soa:read' },
      ],
    },
    {
      label: t.nav.proof,
      items: [
        { path: '/trust-portal', label: t.nav.trust, icon: IconCertificate, needs: 'trust-portal:read' },
        { path: '/audit', label: t.nav.audit, icon: IconTimeline, needs: 'audit-log:read' },
      ],
    },
    { items: [{ path: '/settings', label: t.nav.settings, icon: IconSettings }] },
  ];
  return groups
    .map((group) => ({ ...group, items: group.items.filter(({ needs }) => !needs || can(needs)) }))
    .filter(({ items }) => items.length > 0);
}

export function Console() {
  const { data: session } = useSession();
  const { user, membership, can } = useMe();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme('light') === 'dark';
  const groups = useGroups();
  const { unread = 0 } = useUnread();
  useLive();
  usePaper();
  const palette = usePalette();
  // Pages outside the navigation.
  const unlisted = [
    { path: '/inbox', label: t.inbox.title, icon: IconBell },
    ...(can('identity:read') ? [{ path: '/people/access-review', label: t.nav.accessReview, icon: IconUserShield }] : []),
  ];
  useShortcuts({ '/': palette.open, 'Mod+z': undoLast }, { isEverywhere: true });

  return (
    <Shell
      org={membership?.name ?? ''}
      orgs={session?.organizations ?? []}
      onOrg={(id) => {
        chooseOrganization(id);
        location.assign('/');
      }}
      user={{
        name: user?.name || user?.email || '',
        role: roleWords(rolesOf(membership?.role ?? '')[0] ?? ''),
      }}
      groups={groups}
      unread={can('profile:read') ? unread : undefined}
      path={path}
      onSearch={palette.open}
      dark={dark}
      onDark={() => setColorScheme(dark ? 'light' : 'dark')}
      onSignOut={() => void signOut()}
    >
      <ConnectionBar />
      <Outlet />
      {palette.isAsked && (
        <Suspense>
          <Palette groups={[{ items: unlisted }, ...groups]} />
        </Suspense>
      )}
      <KeySheet />
      <Reauthentication onSignOut={() => void signOut()} />
      <Expiry />
    </Shell>
  );
}
