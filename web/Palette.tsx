import { Spotlight, type SpotlightActionGroupData, spotlight } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from './api/client';
import { type ListPath, type RowOf, search } from './api/lists';
import { chooseOrganization } from './api/organization';
import { useMe, useSession } from './api/session';
import { save } from './parts/ExportMenu';
import { useRequirements } from './parts/links/requirements';
import type { NavGroup } from './parts/Shell';
import { NEEDS, type Section } from './settings/sections';
import { start } from './tasks/automated';
import { t } from './texts';

export const openPalette = () => spotlight.open();

type Can = (permission: string) => boolean;
type Found = { id: string; label: string; hint: string; to: string };
const FOUND = 5;

/** Reads a kind of record: those whose name holds the words, as far as the reader may see them. */
const kind = <P extends ListPath>(
  path: P,
  needs: string | undefined,
  label: () => string,
  read: (row: RowOf<P>) => Omit<Found, 'id'>,
) => ({
  label,
  find: async (q: string, can: Can): Promise<Found[]> => {
    if (needs && !can(needs)) return [];
    const rows = await search(path, q, FOUND).catch(() => []);
    return rows.map((row) => ({ id: (row as { id: string }).id, ...read(row) }));
  },
});

const KINDS = [
  kind(
    '/v1/risks',
    'risk:read',
    () => t.nav.risks,
    ({ id, title, reference }) => ({
      label: title,
      hint: reference,
      to: `/risks?open=${id}`,
    }),
  ),
  kind(
    '/v1/vendors',
    'vendor:read',
    () => t.nav.vendors,
    ({ id, name, reference }) => ({
      label: name,
      hint: reference,
      to: `/vendors?open=${id}`,
    }),
  ),
  kind(
    '/v1/tasks',
    undefined,
    () => t.nav.tasks,
    ({ id, title, reference }) => ({
      label: title,
      hint: reference,
      to: `/tasks/${id}`,
    }),
  ),
  kind(
    '/v1/policies',
    undefined,
    () => t.nav.policies,
    ({ id, name, reference }) => ({
      label: name,
      hint: reference,
      to: `/policies/${id}`,
    }),
  ),
  kind(
    '/v1/controls',
    'control:read',
    () => t.nav.controls,
    ({ id, name, reference }) => ({
      label: name,
      hint: reference,
      to: `/controls?open=${id}`,
    }),
  ),
  kind(
    '/v1/people',
    'member:read',
    () => t.nav.people,
    ({ id, user }) => ({
      label: user.name,
      hint: user.email,
      to: `/people?open=${id}`,
    }),
  ),
];

/** Requirements are loaded once and searched here: there are a few hundred, and they hardly ever change. */
function useFoundRequirements(words: string): Found[] {
  const { can } = useMe();
  const { all } = useRequirements(words.length > 1 && can('framework:read'));
  if (words.length < 2) return [];
  const wanted = words.toLowerCase();
  return all
    .filter(({ code, title }) => code.toLowerCase() === wanted || `${code} ${title}`.toLowerCase().includes(wanted))
    .sort((one, other) => Number(other.code.toLowerCase() === wanted) - Number(one.code.toLowerCase() === wanted))
    .slice(0, FOUND)
    .map(({ id, code, title, framework, alias }) => ({
      id,
      label: `${code} ${title}`,
      hint: framework,
      to: `/frameworks/${alias}?open=${id}`,
    }));
}

/** The automations of the tasks whose name holds the words after "run". */
function useRuns(words: string): Command[] {
  const { can } = useMe();
  const asked = t.palette.runWords.exec(words)?.[1]?.trim();
  const { data } = useQuery({
    queryKey: ['palette-runs', '/v1/tasks', asked],
    queryFn: async () => {
      const tasks = await search('/v1/tasks', asked ?? '', FOUND);
      const lists = tasks.map(({ id }) => api.GET('/v1/tasks/{taskId}/automations', { params: { path: { taskId: id } } }));
      return (await Promise.all(lists)).flatMap((one) => one.data?.data ?? []);
    },
    enabled: Boolean(asked) && can('automation:run'),
  });
  if (!asked) return [];
  return (data ?? []).map((one) => ({ id: `run:${one.id}`, label: t.palette.run(one.name), run: () => start(one) }));
}

type Command = { id: string; label: string; run: () => unknown };

/** What can be done from anywhere; what the reader may not do is not listed. */
function useCommands(go: (to: string) => () => void): Command[] {
  const { can, membership } = useMe();
  const { data: session } = useSession();
  const { palette } = t;
  const make: [string, string, string][] = [
    ['task:create', t.tasks.new, '/tasks?new=yes'],
    ['risk:create', t.risks.new, '/risks?new=yes'],
    ['vendor:create', t.vendors.new, '/vendors?new=yes'],
    ['policy:create', t.policies.new, '/policies?new=yes'],
    ['control:create', t.controls.new, '/controls?new=yes'],
    ['member:create', t.people.invite, '/people?new=yes'],
  ];
  const exports: [string, string, string][] = [
    ['risk:read', t.nav.risks, '/v1/risks/export'],
    ['vendor:read', t.nav.vendors, '/v1/vendors/export'],
    ['task:read', t.nav.tasks, '/v1/tasks/export'],
    ['control:read', t.nav.controls, '/v1/controls/export'],
  ];
  return [
    ...make.filter(([needs]) => can(needs)).map(([, label, to]) => ({ id: `do:${to}`, label, run: go(to) })),
    ...exports
      .filter(([needs]) => can(needs))
      .map(([, what, path]) => ({ id: `do:${path}`, label: palette.export(what), run: () => save(path, { format: 'xlsx' }) })),
    ...(session?.organizations ?? [])
      .filter(({ id }) => id !== membership?.id)
      .map(({ id, name }) => ({
        id: `do:${id}`,
        label: palette.switchTo(name),
        run: () => {
          chooseOrganization(id);
          location.assign('/');
        },
      })),
  ];
}

/** Finds a record, a page or a command from anywhere. */
export default function Palette({ groups }: { groups: NavGroup[] }) {
  const navigate = useNavigate();
  const { can } = useMe();
  const [query, setQuery] = useState('');
  const words = query.trim();
  const found = useQuery({
    queryKey: ['palette', words],
    queryFn: () => Promise.all(KINDS.map(async ({ label, find }) => [label(), await find(words, can)] as const)),
    enabled: words.length > 1,
    placeholderData: (old) => old,
  });
  const requirements = useFoundRequirements(words);
  const go = (to: string) => () => void navigate({ href: to });
  const commands = useCommands(go);
  const runs = useRuns(words);
  const fits = ({ label }: { label: string }) => label.toLowerCase().includes(words.toLowerCase());

  const records = words.length > 1 ? [...(found.data ?? []), [t.palette.requirements, requirements] as const] : [];
  const settings = (Object.keys(NEEDS) as Section[])
    .filter((name) => NEEDS[name] === undefined || can(NEEDS[name]))
    .map((name) => ({ path: `/settings/${name}`, label: t.settings.sections[name] }));
  const pages = [...groups.flatMap(({ items }) => items), ...(words ? settings : [])].filter(fits);
  const actions: SpotlightActionGroupData[] = [
    {
      group: t.palette.actions,
      actions: [...runs, ...(words ? commands.filter(fits) : [])].map(({ id, label, run }) => ({
        id,
        label,
        onClick: () => void run(),
      })),
    },
    ...records.map(([group, all]) => ({
      group,
      actions: all.map(({ id, label, hint, to }) => ({ id, label, description: hint, onClick: go(to) })),
    })),
    { group: t.palette.pages, actions: pages.map(({ path, label }) => ({ id: path, label, onClick: go(path) })) },
  ];
  return (
    <Spotlight
      actions={actions.filter((group) => group.actions.length > 0)}
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      nothingFound={t.palette.nothing}
      filter={(_, all) => all}
      overlayProps={{ blur: 0 }}
      attributes={{ content: { 'aria-label': t.palette.label } }}
      searchProps={{
        leftSection: <IconSearch size={17} stroke={1.6} />,
        placeholder: t.palette.placeholder,
        'aria-label': t.palette.placeholder,
      }}
      highlightQuery
    />
  );
}
