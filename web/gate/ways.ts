import type { Offer, Start } from '../api/sso';

type Known = {
  /** The connection of the typed address; null if its domain has none, undefined while that is unknown. */
  offer: Offer | null | undefined;
  /** The connection that this browser last signed in with. */
  last: Start | undefined;
  /** The user asked for the ways of the account itself. */
  isOtherWay: boolean;
};

type Ways = {
  sso?: Start;
  /** Single sign-on stands above everything else. */
  isFirst: boolean;
  /** Nothing else signs in, so the password and the passkey are left out. */
  isOnly: boolean;
};

/** The ways that the sign-in page shows. */
export function waysOf({ offer, last, isOtherWay }: Known): Ways {
  const sso = offer === undefined ? last : (offer ?? undefined);
  return {
    sso,
    isFirst: sso !== undefined && sso.startUrl === last?.startUrl,
    isOnly: offer?.isRequired === true && !isOtherWay,
  };
}
