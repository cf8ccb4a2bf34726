import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { api, type Schemas } from '../api/client';
import { Problem } from '../api/problem';
import { refetch } from '../api/query';
import type { Conflict, Versioned } from '../api/records';
import type { Search } from '../routes';

/** The words of the address that the lists of requests and of grants take. */
export function queryOf({ status, sort, order }: Search): Record<string, string> {
  return { ...(status && { status }), ...(sort && { sort }), ...(order && { order }) };
}

/** Takes away what belongs to one tab: its filters, its order, the open record. */
export const none = (view: Search): Search => Object.fromEntries(Object.keys(view).map((key) => [key, undefined]));

export type Settings = Schemas['PortalSettings'];
export type Framework = Schemas['PortalFrameworkView'];
export type Document = Settings['documents'][number];
export type Patch = Schemas['UpdatePortal'];
export type Request = Schemas['AccessRequest'];
export type Grant = Schemas['AccessGrant'];
export type Visit = Schemas['PortalVisit'];
export type Post = Schemas['PortalPost'];

/** The days for which access can be granted. */
export const ACCESS_DAYS = { min: 1, max: 365 };

export const PORTAL = '/v1/trust-portal';
export const ACCESS = '/v1/trust-access';
const SETTINGS = '/v1/trust-portal/settings';
const KEY = ['portal', SETTINGS];

async function fetchSettings(): Promise<Versioned<Settings>> {
  const { data, response } = await api.GET(SETTINGS);
  if (!data) throw Problem.unreachable();
  return { data, version: response.headers.get('ETag') };
}

export function useSettings() {
  return useQuery({ queryKey: KEY, queryFn: fetchSettings });
}

/** What the forms of the page hold until it is saved, over what the server has. */
export type Draft = Patch;

/** The settings with what was typed and is not saved. It outlives a change of the tab. */
export function useDraft() {
  const client = useQueryClient();
  const { data, error, refetch: again } = useSettings();
  const [draft, setDraft] = useState<Draft>({});
  const [conflict, setConflict] = useState<Conflict<Settings>>();

  const drop = useCallback((fields: string[]) => {
    setDraft((old) => Object.fromEntries(Object.entries(old).filter(([field]) => !fields.includes(field))));
  }, []);

  const send = useCallback(
    async (patch: Patch, version: string | null | undefined) => {
      const { data: next, response } = await api.PATCH(SETTINGS, {
        body: patch,
        headers: version ? { 'If-Match': version } : {},
      });
      if (next) client.setQueryData(KEY, { data: next, version: response.headers.get('ETag') });
      drop(Object.keys(patch));
      void refetch(PORTAL);
    },
    [client, drop],
  );

  /** Whether it was saved; if somebody else saved first, it becomes a conflict to decide. */
  const save = useCallback(
    async (patch: Patch) => {
      try {
        await send(patch, client.getQueryData<Versioned<Settings>>(KEY)?.version);
        return true;
      } catch (problem) {
        if (!(problem instanceof Problem) || !problem.isConflict) throw problem;
        setConflict({ mine: patch, theirs: await fetchSettings() });
        return false;
      }
    },
    [client, send],
  );

  const settle = useCallback(
    async (chosen: Patch | undefined) => {
      if (!conflict) return;
      client.setQueryData(KEY, conflict.theirs);
      if (chosen && Object.keys(chosen).length > 0) await send(chosen, conflict.theirs.version);
      drop(Object.keys(conflict.mine));
      setConflict(undefined);
    },
    [client, conflict, drop, send],
  );

  const set = useCallback((next: Draft) => setDraft((old) => ({ ...old, ...next })), []);
  return { settings: data?.data, error, again, draft, set, drop, save, conflict, settle };
}

export type Form = ReturnType<typeof useDraft>;

/** What of these fields was changed and is not saved. An emptied text is none. */
export function changes(settings: Settings, draft: Draft, fields: (keyof Draft)[]): Patch {
  const differs = (field: keyof Draft) => {
    if (!(field in draft)) return false;
    if (field === 'frameworks') return (draft.frameworks ?? []).length > 0;
    return (draft[field] || null) !== (settings[field as keyof Settings] || null);
  };
  return Object.fromEntries(fields.filter(differs).map((field) => [field, draft[field] === '' ? null : draft[field]]));
}

/** The frameworks with what was decided and is not saved. */
export function frameworksOf(settings: Settings, draft: Draft): Framework[] {
  return settings.frameworks.map((one) => ({
    ...one,
    ...draft.frameworks?.find(({ framework }) => framework === one.framework),
  }));
}

/** Takes up a decision about a framework; one that is as it was is no change. */
export function decide(settings: Settings, draft: Draft, next: Framework): Draft {
  const { framework, enabled, status } = next;
  const others = (draft.frameworks ?? []).filter((one) => one.framework !== framework);
  const was = settings.frameworks.find((one) => one.framework === framework);
  const isAsItWas = was?.enabled === enabled && was.status === status;
  return { frameworks: isAsItWas ? others : [...others, { framework, enabled, status }] };
}
