import { api, type Schemas } from '../api/client';
import type { Words } from '../api/lists';
import type { Member } from '../api/people';
import type { Status } from '../parts/StatusPill';
import type { Search } from '../routes';
import { t } from '../texts';

/** The words of the address that the list takes. */
export function queryOf(view: Search): Words<'/v1/people'> {
  const { role, department, hasSecondFactor, isActive, q, sort, order } = view;
  return {
    ...(role && { role }),
    ...(department && { department }),
    ...(hasSecondFactor && { hasSecondFactor: hasSecondFactor === 'true' }),
    isActive: isActive !== 'false',
    ...(q && { q }),
    sort: sort ?? 'name',
    order: order === 'desc' ? 'desc' : 'asc',
  };
}

export type State = 'active' | 'invited' | 'deactivated';

export function stateOf({ isActive, isInvited }: Member): State {
  if (isActive) return 'active';
  return isInvited ? 'invited' : 'deactivated';
}

export function states(): Record<State, Status> {
  const { states: label } = t.people;
  return {
    active: { label: label.active, tone: 'ok', shape: 'full' },
    invited: { label: label.invited, tone: 'info', shape: 'half' },
    deactivated: { label: label.deactivated, tone: 'mute', shape: 'dash' },
  };
}

/** Says nothing of those who cannot sign in. */
export const isWithoutFactor = ({ isActive, hasSecondFactor }: Member) => isActive && !hasSecondFactor;

/** The choices of a filter, by their words. */
export const values = (of: Record<string, string>) => Object.entries(of).map(([value, label]) => ({ value, label }));

export const update = (id: string, body: Schemas['UpdateMember']) =>
  api.PATCH('/v1/people/{id}', { params: { path: { id } }, body });
export const deactivate = (id: string) => api.DELETE('/v1/people/{id}', { params: { path: { id } } });
export async function invite(body: Schemas['InviteMember']): Promise<Schemas['InvitedMember'] | undefined> {
  return (await api.POST('/v1/people/invite', { body })).data;
}
export const signOut = (id: string) => api.POST('/v1/people/{id}/sign-out', { params: { path: { id } } });
export const resetFactor = (id: string) => api.POST('/v1/people/{id}/reset-second-factor', { params: { path: { id } } });
