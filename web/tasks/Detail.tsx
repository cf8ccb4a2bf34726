import { PageHeader } from '../parts/PageHeader';
import { t } from '../texts';

export function Task() {
  return <PageHeader title={t.nav.tasks} />;
}
