import { Link } from '@tanstack/react-router';
import { $api } from '../api/client';
import { useTotal } from '../api/lists';
import { useMe } from '../api/session';
import { day } from '../parts/format';
import { Glyph, type Shape, type Tone } from '../parts/glyphs';
import { to } from '../parts/to';
import { t } from '../texts';
import css from './Home.module.css';
import { useTasks } from './queries';

type Row = { title: string; text: string | undefined; to: string; permission: string; shape?: Shape; tone?: Tone };

/** What somebody who audits the organization looks at, with the state of each. */
export function Auditor() {
  const { can } = useMe();
  const texts = t.home.audited;
  const statements = $api.useQuery(
    'get',
    '/v1/soa/documents',
    { params: { query: { limit: 20 } } },
    { enabled: can('soa:read') },
  );
  const approved = statements.data?.data.find(({ status }) => status === 'approved');
  const tasks = useTasks().data;
  const count = (state: string) => tasks?.filter(({ evidenceStatus }) => evidenceStatus === state).length ?? 0;
  const policies = useTotal('/v1/policies', { isPublished: 'true' }, can('policy:read'));
  const controls = useTotal('/v1/controls', {}, can('control:read'));
  const risks = useTotal('/v1/risks', {}, can('risk:read'));
  const vendors = useTotal('/v1/vendors', {}, can('vendor:read'));
  const rows: Row[] = [
    {
      title: texts.soa,
      text: statements.data && (approved ? texts.soaText(approved.version, day(approved.approvedAt ?? '')) : texts.soaNone),
      to: '/applicability',
      permission: 'soa:read',
      ...(statements.data && !approved && { shape: 'ring', tone: 'warn' }),
    },
    {
      title: texts.evidence,
      text: tasks && texts.evidenceText(count('fresh'), count('stale'), tasks.length),
      to: '/tasks',
      permission: 'task:read',
      ...(count('stale') > 0 && { shape: 'alert', tone: 'bad' }),
    },
    { title: texts.policies, text: known(policies, texts.policiesText), to: '/policies', permission: 'policy:read' },
    { title: texts.controls, text: known(controls, texts.controlsText), to: '/controls', permission: 'control:read' },
    { title: texts.risks, text: known(risks, texts.risksText), to: '/risks', permission: 'risk:read' },
    { title: texts.vendors, text: known(vendors, texts.vendorsText), to: '/vendors', permission: 'vendor:read' },
    { title: texts.log, text: texts.logText, to: '/audit', permission: 'audit-log:read' },
  ];
  return (
    <ul>
      {rows
        .filter(({ permission }) => can(permission))
        .map(({ title, text, to: page, shape = 'check', tone = 'ok' }) => (
          <li key={page} className={css.item}>
            <Glyph shape={shape} tone={tone} />
            <div className={css.words}>
              <Link {...to(page)} className={css.title}>
                {title}
              </Link>
              <small>{text}</small>
            </div>
          </li>
        ))}
    </ul>
  );
}

const known = (count: number | undefined, words: (count: number) => string) => (count === undefined ? undefined : words(count));
