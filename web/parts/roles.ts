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
export const isOwner = ({ role }: { role: string }) => rolesOf(role).includes('owner');
