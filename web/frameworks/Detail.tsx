import { PageHeader } from '../parts/PageHeader';
import { t } from '../texts';

export function Framework() {
  return <PageHeader title={t.nav.frameworks} />;
}
