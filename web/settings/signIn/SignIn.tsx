import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMe } from '../../api/session';
import { StatusPill } from '../../parts/StatusPill';
import { t } from '../../texts';
import { Fetched, Section } from '../Section';
import css from '../settings.module.css';
import { Connections } from './Connections';
import { Directory } from './Directory';
import { Domains } from './Domains';
import { ExemptOwners } from './ExemptOwners';
import type { Policy } from './policy';
import { useDirectory, useSignIn } from './queries';
import { SignInPolicy } from './SignInPolicy';

/** The sign-in of the members of the organization. */
export function SignIn() {
  const all = useSignIn();
  const { data } = all;
  const directory = useDirectory();
  // All sections are drawn at once, so that none moves the others.
  const isWhole = directory.data !== undefined || directory.error !== undefined;
  return (
    <>
      <Section
        title={t.settings.sections.security}
        lead={t.signIn.policy.lead}
        actions={
          <Button component={Link} to="/people/access-review" variant="default">
            {t.nav.accessReview}
          </Button>
        }
      >
        <Fetched of={all}>{({ policy }) => <Summary of={policy.data} />}</Fetched>
      </Section>
      {data && isWhole && (
        <>
          <Connections connections={data.connections} />
          <Directory of={directory} domains={data.domains} exemptIds={data.policy.data.exemptMembers} />
          <Domains domains={data.domains} connections={data.connections} />
          <SignInPolicy known={data.policy} connections={data.connections} domains={data.domains} />
          <ExemptOwners exemptIds={data.policy.data.exemptMembers} />
        </>
      )}
    </>
  );
}

/** The demand for single sign-on, and the number of members who sign in with a password alone. */
function Summary({ of: { sso, membersWithoutSecondFactor: count } }: { of: Policy }) {
  const { can } = useMe();
  const texts = t.signIn.policy;
  return (
    <p className={css.bar}>
      {sso === 'required' && <StatusPill label={texts.ssoIsRequired} tone="ok" shape="check" />}
      {count === 0 ? (
        <StatusPill label={texts.everyone} tone="ok" shape="check" />
      ) : (
        <StatusPill label={texts.without(count)} tone="warn" shape="alert" />
      )}
      {count > 0 && can('member:read') && (
        <Link to="/people" search={{ hasSecondFactor: 'false' } as never} className="link">
          {texts.show}
        </Link>
      )}
    </p>
  );
}
