import { Link, useParams } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { useMe } from '../api/session';
import { MissingPage } from '../parts/ErrorPage';
import { PageHeader } from '../parts/PageHeader';
import { t } from '../texts';
import { Account } from './account/Account';
import { ChatChannels } from './ChatChannels';
import { Context } from './Context';
import { Hosts } from './Hosts';
import { Keys } from './keys/Keys';
import { ServiceAccounts } from './keys/ServiceAccounts';
import { Organization } from './Organization';
import { RiskCriteria } from './RiskCriteria';
import { Secrets } from './Secrets';
import { NEEDS, type Section } from './sections';
import css from './settings.module.css';
import { SignIn } from './signIn/SignIn';

/** What there is to set, and what one must be allowed to see it. */
const SECTIONS: { name: Section; page: ComponentType }[] = [
  { name: 'organization', page: Organization },
  { name: 'security', page: SignIn },
  { name: 'criteria', page: RiskCriteria },
  { name: 'service-accounts', page: ServiceAccounts },
  { name: 'keys', page: Keys },
  { name: 'secrets', page: Secrets },
  { name: 'hosts', page: Hosts },
  { name: 'chat', page: ChatChannels },
  { name: 'context', page: Context },
  { name: 'account', page: Account },
];

/** On a phone the sections stand in a row that is wider than the page. */
const intoView = (link: HTMLElement | null) => link?.scrollIntoView({ block: 'nearest', inline: 'center' });

export function Settings() {
  const { section } = useParams({ strict: false });
  const { can } = useMe();
  const shown = SECTIONS.filter(({ name }) => {
    const needs = NEEDS[name];
    return !needs || can(needs);
  });
  const current = section === undefined ? shown[0] : shown.find(({ name }) => name === section);
  if (!current) return <MissingPage />;
  return (
    <>
      <PageHeader title={t.nav.settings} />
      <div className={css.page}>
        <nav className={css.nav} aria-label={t.settings.label}>
          <ul>
            {shown.map(({ name }) => (
              <li key={name}>
                <Link
                  to="/settings/$section"
                  params={{ section: name }}
                  search={{}}
                  className={css.link}
                  aria-current={name === current.name ? 'page' : undefined}
                  ref={name === current.name ? intoView : undefined}
                >
                  {t.settings.sections[name]}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <div className={css.content}>
          <current.page key={current.name} />
        </div>
      </div>
    </>
  );
}
