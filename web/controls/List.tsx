import { PageHeader } from '../parts/PageHeader';
import { t } from '../texts';

export function Controls() {
  return <PageHeader title={t.nav.controls} />;
}
