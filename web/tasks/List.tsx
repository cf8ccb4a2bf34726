import { PageHeader } from '../parts/PageHeader';
import { t } from '../texts';

export function Tasks() {
  return <PageHeader title={t.nav.tasks} />;
}
