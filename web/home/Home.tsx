import { PageHeader } from '../parts/PageHeader';
import { t } from '../texts';

export function Home() {
  return <PageHeader title={t.nav.home} />;
}
