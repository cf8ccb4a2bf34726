import { PageHeader } from '../parts/PageHeader';
import { t } from '../texts';

export function Policy() {
  return <PageHeader title={t.nav.policies} />;
}
