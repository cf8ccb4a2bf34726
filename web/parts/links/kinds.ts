import type { Schemas } from '../../api/client';
import { t } from '../../texts';
import type { Status } from '../StatusPill';

/** The kinds of records that a control is linked to, with the field of the control that has their ids. */
export const kinds = ['requirement', 'policy', 'task', 'risk', 'vendor'] as const;
export type Kind = (typeof kinds)[number];
export const idsOf = {
  requirement: 'requirementIds',
  policy: 'policyIds',
  task: 'taskIds',
  risk: 'riskIds',
  vendor: 'vendorIds',
} as const satisfies Record<Kind, string>;

/** The permission to see the records of a kind. */
export const READ: Record<Kind | 'control', string> = {
  requirement: 'framework:read',
  policy: 'policy:read',
  task: 'task:read',
  risk: 'risk:read',
  vendor: 'vendor:read',
  control: 'control:read',
};

export type Control = Schemas['ControlView'];

/** One end of a link. */
export type Linked = {
  id: string;
  reference: string;
  name: string;
  /** The page that opens it, if it can be seen. */
  href?: string;
  /** The framework of a requirement. */
  group?: string;
  readiness?: Control['readiness'];
};

/** The states of a control: ready when what is linked to it is in place. */
export const readiness = (): Record<'ready' | 'in_progress' | 'not_started', Status> => ({
  ready: { label: t.controls.readiness.ready, tone: 'ok', shape: 'check' },
  in_progress: { label: t.controls.readiness.in_progress, tone: 'info', shape: 'half' },
  not_started: { label: t.controls.readiness.not_started, tone: 'mute', shape: 'ring' },
});
