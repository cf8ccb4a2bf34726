import { PageHeader } from '../parts/PageHeader';
import { t } from '../texts';

export function Applicability() {
  return <PageHeader title={t.nav.applicability} />;
}
