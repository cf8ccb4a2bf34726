import { $api } from '../../api/client';
import type { Answer } from '../../api/paths';
import { day } from '../../parts/format';
import { StatusPill } from '../../parts/StatusPill';
import { Ways } from '../../parts/Way';
import { t } from '../../texts';
import { Fetched, Section } from '../Section';
import css from '../settings.module.css';
import { AuthenticatorApp } from './AuthenticatorApp';
import { Codes } from './Codes';
import { Identities } from './Identities';
import { Passkeys } from './Passkeys';
import { SECURITY } from './queries';

type State = Answer<typeof SECURITY>;
type Demand = State['demands'][number];

/** The second factors of the account: authenticator app, recovery codes and passkeys; and its identities at providers. */
export function Security() {
  const security = $api.useQuery('get', SECURITY);
  const texts = t.signIn.security;
  return (
    <>
      <Section title={texts.title} lead={texts.lead}>
        <Fetched of={security}>
          {(state) => (
            <>
              <Demands state={state} />
              <Ways>
                <AuthenticatorApp totp={state.totp} />
                <Codes state={state} />
              </Ways>
            </>
          )}
        </Fetched>
      </Section>
      <Passkeys security={security} />
      {security.data && <Identities identities={security.data.identities} />}
    </>
  );
}

function demandWords({ organizationName, mfa, mfaFrom, sso, isExempt }: Demand): string {
  const texts = t.signIn.security.demands;
  if (sso === 'required') return isExempt ? texts.exempt(organizationName) : texts.sso(organizationName);
  if (mfa === 'optional') return texts.optional(organizationName);
  const isLater = mfaFrom !== null && Date.parse(mfaFrom) > Date.now();
  return isLater ? texts.from(organizationName, day(new Date(mfaFrom))) : texts.now(organizationName);
}

/** The demands of the organizations, with a warning if the account does not meet them. */
function Demands({ state: { demands, totp, passkeys } }: { state: State }) {
  const hasFactor = totp.isActive || passkeys.length > 0;
  return (
    <ul className={css.demands}>
      {demands.map((demand) => (
        <li key={demand.organizationId}>
          {demandWords(demand)}{' '}
          {(demand.sso === 'required' ? demand.isExempt : demand.mfa === 'required') && !hasFactor && (
            <StatusPill label={t.signIn.security.missing} tone="warn" shape="alert" />
          )}
        </li>
      ))}
    </ul>
  );
}
