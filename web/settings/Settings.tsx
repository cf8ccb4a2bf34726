import { PageHeader } from '../parts/PageHeader';
import { t } from '../texts';

export function Settings() {
  return <PageHeader title={t.nav.settings} />;
}
