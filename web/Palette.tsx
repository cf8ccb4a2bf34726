import { Spotlight, type SpotlightActionGroupData, spotlight } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from './api/client';
import { useMe } from './api/session';
import type { NavGroup } from './parts/Shell';
import { t } from './texts';

export const openPalette = () => spotlight.open();

type Found = { id: string; label: string; hint: string; to: string };

/** Records whose name holds these words, of every kind that the reader may see. */
async function find(q: string, can: (permission: string) => boolean): Promise<Record<string, Found[]>> {
  const query = { q, limit: 5 };
  const [risks, vendors, tasks, people] = await Promise.all([
    can('risk:read') ? api.GET('/v1/risks', { params: { query } }) : undefined,
    can('vendor:read') ? api.GET('/v1/vendors', { params: { query } }) : undefined,
    api.GET('/v1/tasks', { params: { query } }),
    can('member:read') ? api.GET('/v1/people', { params: { query } }) : undefined,
  ]);
  const tasksFound = Array.isArray(tasks.data) ? tasks.data : [];
  return {
    [t.nav.risks]: (risks?.data?.data ?? []).map((one) => ({
      id: one.id,
      label: one.title,
      hint: one.reference,
      to: `/risks?open=${one.id}`,
    })),
    [t.nav.vendors]: (vendors?.data?.data ?? []).map((one) => ({
      id: one.id,
      label: one.name,
      hint: one.reference,
      to: `/vendors?open=${one.id}`,
    })),
    [t.nav.tasks]: tasksFound.map((one) => ({ id: one.id, label: one.title, hint: one.reference, to: `/tasks/${one.id}` })),
    [t.nav.people]: (people?.data?.data ?? []).map((one) => ({
      id: one.id,
      label: one.user.name,
      hint: one.user.email,
      to: `/people?open=${one.id}`,
    })),
  };
}

/** Finds a record or a page from anywhere. */
export function Palette({ groups }: { groups: NavGroup[] }) {
  const navigate = useNavigate();
  const { can } = useMe();
  const [query, setQuery] = useState('');
  const words = query.trim();
  const found = useQuery({
    queryKey: ['palette', words],
    queryFn: () => find(words, can),
    enabled: words.length > 1,
    placeholderData: (old) => old,
  });
  const go = (to: string) => () => void navigate({ href: to });

  const pages = groups.flatMap(({ items }) => items).filter(({ label }) => label.toLowerCase().includes(words.toLowerCase()));
  const actions: SpotlightActionGroupData[] = [
    ...(words.length > 1 ? Object.entries(found.data ?? {}) : [])
      .filter(([, records]) => records.length > 0)
      .map(([group, records]) => ({
        group,
        actions: records.map(({ id, label, hint, to }) => ({ id, label, description: hint, onClick: go(to) })),
      })),
    { group: t.palette.pages, actions: pages.map(({ path, label }) => ({ id: path, label, onClick: go(path) })) },
  ];
  return (
    <Spotlight
      actions={actions.filter((group) => group.actions.length > 0)}
      query={query}
      onQueryChange={setQuery}
      shortcut={['mod + K']}
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
