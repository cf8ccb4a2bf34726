import { IconFileText, IconLock } from '@tabler/icons-react';
import { $api } from '../api/client';
import { useList } from '../api/lists';
import { useMe } from '../api/session';
import { day } from '../parts/format';
import { Glyph, type Shape, type Tone } from '../parts/glyphs';
import { initials } from '../parts/Person';
import { t } from '../texts';
import css from './Preview.module.css';
import type { Draft, Framework, Settings } from './queries';

/** What stands in the seal of a framework. */
const seals: Record<Framework['framework'], string> = {
  iso_27001: '27001',
  iso_42001: '42001',
  gdpr: 'GDPR',
  hipaa: 'HIPAA',
  soc2_type1: 'SOC 2',
  soc2_type2: 'SOC 2',
  pci_dss: 'PCI',
  nen_7510: '7510',
  iso_9001: '9001',
};
const glyphs: Record<Framework['status'], [Shape, Tone]> = {
  started: ['ring', 'mute'],
  in_progress: ['half', 'info'],
  compliant: ['check', 'ok'],
};
const MOST = 6;

/** The public page in small, as it would be if everything were saved and published now. */
export function Preview({ settings, draft, frameworks }: { settings: Settings; draft: Draft; frameworks: Framework[] }) {
  const { membership, can } = useMe();
  const name = membership?.name ?? '';
  const overview = 'overview' in draft ? draft.overview : settings.overview;
  const contact = 'contactEmail' in draft ? draft.contactEmail : settings.contactEmail;
  const shown = frameworks.filter((one) => one.enabled);
  const vendors = $api.useQuery(
    'get',
    '/v1/vendors',
    { params: { query: { isSubProcessor: true, limit: 100 } } },
    { enabled: can('vendor:read') },
  );
  const updates = useList('/v1/trust-portal/posts', { kind: 'update' }).rows.filter((post) => post.isPublished);
  const questions = useList('/v1/trust-portal/posts', { kind: 'question' }).rows.filter((post) => post.isPublished);
  const documents = settings.documents.filter((one) => one.visibility !== 'hidden');
  const processors = vendors.data?.data ?? [];
  return (
    <aside className={css.side} aria-label={t.trust.preview.title}>
      <div className={css.head}>
        <h2>{t.trust.preview.title}</h2>
        <p className="t3">{t.trust.preview.note}</p>
      </div>
      <div className={css.page}>
        <div className={css.brand}>
          <span className={css.mark} aria-hidden="true">
            {initials(name)}
          </span>
          {name}
        </div>
        <div className={css.top}>
          <div>
            <p className={css.title}>{t.trust.preview.heading(name)}</p>
            {overview ? (
              overview
                .split(/\n\s*\n/)
                .filter((part) => part.trim())
                .map((part, at) => (
                  <p key={at} className={css.overview}>
                    {part.trim()}
                  </p>
                ))
            ) : (
              <p className={css.missing}>{t.trust.preview.noOverview}</p>
            )}
            {contact && <p className={css.contact}>{contact}</p>}
          </div>
          {shown.length > 0 && (
            <ul className={css.seals}>
              {shown.map((one) => {
                const [shape, tone] = glyphs[one.status];
                return (
                  <li key={one.framework}>
                    <span className={css.seal} data-done={one.status === 'compliant' || undefined} aria-hidden="true">
                      {seals[one.framework]}
                    </span>
                    <span className={css.words}>
                      <b>{one.title}</b>
                      <small>{t.trust.progress[one.status]}</small>
                    </span>
                    <Glyph shape={shape} tone={tone} />
                  </li>
                );
              })}
            </ul>
          )}
        </div>
        <div className={css.bottom}>
          <div>
            <Part title={t.trust.preview.documents} count={documents.length}>
              {documents.slice(0, MOST).map(({ document, title, visibility }) => (
                <li key={document} className={css.row}>
                  <IconFileText size={14} stroke={1.5} aria-hidden="true" />
                  <span className={css.words}>{title}</span>
                  <span className={css.lock}>
                    {visibility === 'public' ? (
                      t.trust.preview.download
                    ) : (
                      <>
                        <IconLock size={12} stroke={1.6} aria-hidden="true" /> {t.trust.preview.request}
                      </>
                    )}
                  </span>
                </li>
              ))}
            </Part>
            <Part title={t.trust.preview.processors} count={processors.length}>
              {processors.slice(0, MOST).map((one) => (
                <li key={one.id} className={css.row}>
                  <span className={css.words}>{one.name}</span>
                </li>
              ))}
            </Part>
            <Part title={t.trust.preview.updates} count={updates.length}>
              {updates.slice(0, MOST).map((post) => (
                <li key={post.id} className={css.row}>
                  <span className={css.words}>{post.title}</span>
                  <span className={css.lock}>{post.publishedAt && day(post.publishedAt.slice(0, 10))}</span>
                </li>
              ))}
            </Part>
            <Part title={t.trust.preview.questions} count={questions.length}>
              {questions.slice(0, MOST).map((post) => (
                <li key={post.id} className={css.row}>
                  <span className={css.words}>{post.title}</span>
                </li>
              ))}
            </Part>
          </div>
          <div className={css.form} aria-hidden="true">
            <b>{t.trust.preview.form}</b>
            <span>{t.trust.preview.email}</span>
            <i />
            <span>{t.trust.preview.company}</span>
            <i />
            <em>{t.trust.preview.form}</em>
          </div>
        </div>
      </div>
    </aside>
  );
}

function Part({ title, count, children }: { title: string; count: number; children: React.ReactNode }) {
  if (count === 0) return null;
  return (
    <section className={css.part}>
      <h3>{title}</h3>
      <ul>{children}</ul>
      {count > MOST && <p className={css.more}>{t.trust.preview.more(count - MOST)}</p>}
    </section>
  );
}
