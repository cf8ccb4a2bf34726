import { PageHeader } from '../parts/PageHeader';
import { t } from '../texts';

export function AuditLog() {
  return <PageHeader title={t.nav.audit} />;
}
