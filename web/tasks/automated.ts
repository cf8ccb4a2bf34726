import { useEffect, useState } from 'react';
import { $api, api, type Schemas } from '../api/client';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import type { Status as Shown } from '../parts/StatusPill';
import { useView } from '../parts/search';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { failed } from './queries';

export type Automation = Schemas['Automation'];
export type Run = Schemas['AutomationRun'];
type Patch = Schemas['UpdateAutomation'];

/** The automations of a task, and the one that the address names, or else the first. */
export function useAutomations(taskId: string) {
  const { can } = useMe();
  const { view } = useView();
  const {
    data,
    error,
    refetch: again,
  } = $api.useQuery(
    'get',
    '/v1/tasks/{taskId}/automations',
    { params: { path: { taskId }, query: { limit: 200 } } },
    { enabled: can('automation:read') },
  );
  const all = data?.data ?? [];
  const chosen = all.find(({ id }) => id === view.automation) ?? all[0];
  const isShown =
    can('automation:read') && (error !== null || all.length > 0 || (data !== undefined && can('automation:create')));
  return { all, chosen, error, again, isShown };
}

const place = ({ taskId, id }: Automation) => ({ taskId, automationId: id });

/** The newest runs, newest first. */
export function useRuns(automation: Automation, limit = 40) {
  return $api.useQuery('get', '/v1/tasks/{taskId}/automations/{automationId}/runs', {
    params: { path: place(automation), query: { limit } },
  });
}

export const isOpen = (run: Run | undefined) => run?.status === 'PENDING' || run?.status === 'RUNNING';

/** A run as it goes on: asked for each second until it has ended. */
export function useRun(automation: Automation, run: Run | undefined): Run | undefined {
  const { data } = $api.useQuery(
    'get',
    '/v1/tasks/{taskId}/automations/{automationId}/runs/{runId}',
    { params: { path: { ...place(automation), runId: run?.id ?? '' } } },
    { enabled: isOpen(run), refetchInterval: (query) => (query.state.data && !isOpen(query.state.data) ? false : 1_000) },
  );
  const now = data?.id === run?.id && isOpen(run) ? data : run;
  const hasEnded = isOpen(run) && !isOpen(now);
  useEffect(() => {
    // The list of runs, the evidence and the status of the task may all be different now.
    if (hasEnded) void refetch('/v1/tasks');
  }, [hasEnded]);
  return now;
}

/** Whole seconds since a moment, counted while it matters. */
export function useSeconds(since: string | null | undefined, isOn: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isOn) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isOn]);
  return since ? Math.max(0, Math.floor((now - Date.parse(since)) / 1_000)) : 0;
}

type State = keyof typeof t.tasks.runs.state;

export function stateOf(run: Run): State {
  if (run.status === 'COMPLETED') return run.evaluationStatus === 'pass' ? 'passed' : 'failed';
  return ({ PENDING: 'pending', RUNNING: 'running', FAILED: 'error', CANCELLED: 'cancelled' } as const)[run.status];
}

const LOOKS: Record<State, Omit<Shown, 'label'>> = {
  passed: { tone: 'ok', shape: 'check' },
  failed: { tone: 'bad', shape: 'cross' },
  error: { tone: 'bad', shape: 'alert' },
  cancelled: { tone: 'mute', shape: 'dash' },
  pending: { tone: 'mute', shape: 'clock' },
  running: { tone: 'info', shape: 'half' },
};

export const shownState = (run: Run): Shown => ({ label: t.tasks.runs.state[stateOf(run)], ...LOOKS[stateOf(run)] });

export async function start(automation: Automation) {
  await api
    .POST('/v1/tasks/{taskId}/automations/{automationId}/runs', { params: { path: place(automation) } })
    .then(() => toast(t.tasks.runs.started))
    .catch(failed);
  await refetch('/v1/tasks');
}

export async function stop(automation: Automation, run: Run) {
  await api
    .POST('/v1/tasks/{taskId}/automations/{automationId}/runs/{runId}/cancel', {
      params: { path: { ...place(automation), runId: run.id } },
    })
    .then(() => toast(t.tasks.runs.stopped))
    .catch(failed);
  await refetch('/v1/tasks');
}

/** Changes some fields. A refusal is thrown, so that the field can say why. */
export async function change(automation: Automation, body: Patch, told: string | undefined = t.edits.saved) {
  await api.PATCH('/v1/tasks/{taskId}/automations/{automationId}', { params: { path: place(automation) }, body });
  await refetch('/v1/tasks');
  toast(told);
}

export async function remove(automation: Automation) {
  await api.DELETE('/v1/tasks/{taskId}/automations/{automationId}', { params: { path: place(automation) } });
  await refetch('/v1/tasks');
}

export function useVersions(automation: Automation, enabled = true) {
  return $api.useQuery(
    'get',
    '/v1/tasks/{taskId}/automations/{automationId}/versions',
    { params: { path: place(automation), query: { limit: 200 } } },
    { enabled },
  );
}

export async function addVersion(automation: Automation, body: Schemas['CreateAutomationVersion']) {
  const { data } = await api.POST('/v1/tasks/{taskId}/automations/{automationId}/versions', {
    params: { path: place(automation) },
    body,
  });
  await refetch('/v1/tasks');
  return data;
}
