import { PageHeader } from '../parts/PageHeader';
import { t } from '../texts';

export function Frameworks() {
  return <PageHeader title={t.nav.frameworks} />;
}
