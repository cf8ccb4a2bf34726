import type { t } from '../texts';

export type Section = keyof typeof t.settings.sections;

/** The permission that each part of the settings needs. */
export const NEEDS: Record<Section, string | undefined> = {
  organization: 'organization:read',
  security: 'identity:read',
  criteria: 'risk:read',
  'service-accounts': 'api-key:read',
  keys: 'api-key:read',
  secrets: 'secret:read',
  hosts: 'automation:read',
  chat: 'organization:read',
  context: 'context:read',
  account: undefined,
};
