import { PageHeader } from '../parts/PageHeader';
import { t } from '../texts';

export function TrustPortal() {
  return <PageHeader title={t.nav.trust} />;
}
