import { refetch } from '../../api/query';
import { toast } from '../../parts/toast';

export const SECURITY = '/v1/auth/security' as const;

/** Fetches anew what a change of the credentials can have changed, and reports the change. */
export const changed = (message: string) => refetch('/v1/auth/', 'session').then(() => toast(message));
