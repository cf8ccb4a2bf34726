import { api } from '../api/client';
import { forgetDrafts } from './drafts';

/** Ends the session, also at the identity provider where the connection asks for that. */
export async function signOut() {
  const ended = await api.POST('/v1/auth/logout').catch(() => undefined);
  forgetDrafts();
  location.assign(ended?.data?.logoutUrl ?? '/sign-in');
}
