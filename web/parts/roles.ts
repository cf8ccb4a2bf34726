import { t } from '../texts';

export const ROLES = ['owner', 'admin', 'auditor', 'employee', 'contractor'] as const;

/** The roles of a member or a key, which the API joins by commas. */
export const rolesOf = (role: string) =>
  role
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
export const roleWords = (role: string) =>
  rolesOf(role)
    .map((word) => t.roles[word] ?? word)
    .join(', ');
/** The roles to choose from: the built-in ones, and the words of one's own that somebody has. */
export const roleChoices = (members: { role: string }[]) =>
  [...new Set([...ROLES, ...members.flatMap(({ role }) => rolesOf(role))])].map((role) => ({
    value: role,
    label: t.roles[role] ?? role,
  }));
export const isOwner = ({ role }: { role: string }) => rolesOf(role).includes('owner');
