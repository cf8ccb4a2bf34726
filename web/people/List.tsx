import { PageHeader } from '../parts/PageHeader';
import { t } from '../texts';

export function People() {
  return <PageHeader title={t.nav.people} />;
}
