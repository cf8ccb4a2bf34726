import { PageHeader } from '../parts/PageHeader';
import { t } from '../texts';

export function Policies() {
  return <PageHeader title={t.nav.policies} />;
}
