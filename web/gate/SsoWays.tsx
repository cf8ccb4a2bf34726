import { useEffect, useRef, useState } from 'react';
import type { Reason } from '../api/demands';
import type { Session } from '../api/session';
import { lastStart, type Start } from '../api/sso';
import { t } from '../texts';
import css from './gate.module.css';
import { SsoInWindow, SsoLink } from './Sso';
import { useOffer } from './useOffer';
import { waysOf } from './ways';

/** On the sign-in page, or over a page where it is known who signs in. */
export type Place =
  | {
      email?: undefined;
      /** The page that single sign-on leads to. */
      next: string;
    }
  | {
      email: string;
      /** Why the session does not do; none if it has ended. */
      reason?: Reason;
      /** The connections to sign in with, where the server named them. */
      starts?: Start[];
    };

/** The connections that the form offers, and what they leave of the other ways. */
export function useSso(place: Place, typed: string) {
  const named = place.email === undefined ? undefined : place.starts;
  const { offer, lookUp } = useOffer(named ? '' : typed);
  const [last] = useState(() => (place.email === undefined ? lastStart() : undefined));
  const [isOtherWay, setOtherWay] = useState(false);
  const { sso, isFirst, isOnly } = waysOf({ offer, last, isOtherWay });
  const starts = named ?? (sso ? [sso] : []);
  return { starts, isFirst, isOnly, isOtherWay, lookUp, chooseOtherWay: () => setOtherWay(true) };
}

type Props = {
  starts: Start[];
  isOnly: boolean;
  place: Place;
  typed: string;
  onDone: (session: Session) => Promise<unknown>;
};

/** The connections, apart from the other ways. */
export function SsoWays({ starts, isOnly, place, typed, onDone }: Props) {
  const area = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The field that had the focus may be gone.
    if (isOnly && document.activeElement === document.body) area.current?.querySelector<HTMLElement>('a, button')?.focus();
  }, [isOnly]);
  if (starts.length === 0) return null;
  return (
    <div ref={area} className={css.sso}>
      {isOnly && (
        <p className="t2" role="status">
          {t.gate.sso.required(starts[0]?.name ?? '')}
        </p>
      )}
      {starts.map((start) =>
        place.email === undefined ? (
          <SsoLink key={start.startUrl} start={start} next={place.next} email={typed} isMain={isOnly} />
        ) : (
          <SsoInWindow
            key={start.startUrl}
            start={start}
            email={place.email}
            reason={place.reason}
            isMain={isOnly}
            onDone={onDone}
          />
        ),
      )}
      {!isOnly && <p className={css.or}>{t.gate.sso.or}</p>}
    </div>
  );
}
