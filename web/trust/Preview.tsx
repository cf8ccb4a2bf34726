import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type SyntheticEvent, useRef } from 'react';
import { api } from '../api/client';
import { Problem, words } from '../api/problem';
import { language, t } from '../texts';
import css from './Preview.module.css';
import { changes, type Form, type Patch, type Settings } from './queries';

const PREVIEW = '/v1/trust-portal/preview';
/** How long typing rests before the page is drawn again. */
const REST_MS = 300;

async function drawn(body: Patch): Promise<string> {
  const { data } = await api.POST(PREVIEW, { body, parseAs: 'text', headers: { 'Accept-Language': language } });
  return data ?? '';
}

/** Says why the page is not drawn; what is wrong with the draft is said beside its fields when it is saved. */
function reason(error: unknown, hasPage: boolean): string {
  if (!(error instanceof Problem) || error.code !== 'validation_failed') return words(error);
  return hasPage ? t.trust.preview.lastValid : t.trust.preview.invalid;
}

/** The public page as it would be if everything were saved and published now. */
export function Preview({ settings, draft }: { settings: Settings; draft: Form['draft'] }) {
  const [patch] = useDebouncedValue(
    JSON.stringify(changes(settings, draft, ['overview', 'contactEmail', 'frameworks'])),
    REST_MS,
  );
  const { data, error } = useQuery({
    // Fetched again with what the page shows.
    queryKey: [PREVIEW, '/v1/organization', '/v1/policies', '/v1/vendors', language, patch],
    queryFn: () => drawn(JSON.parse(patch) as Patch),
  });
  // The last page stays while the next one is drawn, and while the draft is invalid.
  const last = useRef<string>(undefined);
  last.current = data ?? last.current;
  const overview = 'overview' in draft ? draft.overview : settings.overview;
  const place = useRef(0);

  /** A new page is shown where the one before was read, and leads nowhere. */
  function arrange({ currentTarget }: SyntheticEvent<HTMLIFrameElement>) {
    const [page, view] = [currentTarget.contentDocument, currentTarget.contentWindow];
    if (!page || !view) return;
    if (place.current > 0) view.scrollTo({ top: place.current, behavior: 'instant' });
    page.addEventListener('scroll', () => {
      place.current = view.scrollY;
    });
    // The middle button sends `auxclick`.
    for (const kind of ['click', 'auxclick'])
      page.addEventListener(kind, (event) => {
        if ((event.target as Element).closest('a')) event.preventDefault();
      });
  }

  return (
    <aside className={css.side} aria-label={t.trust.preview.title}>
      <div className={css.head}>
        <h2>{t.trust.preview.title}</h2>
        <p className="t3">{t.trust.preview.note}</p>
        {!overview && <p className={css.missing}>{t.trust.preview.noOverview}</p>}
        {error && (
          <p className={css.error} role="alert">
            {reason(error, last.current !== undefined)}
          </p>
        )}
      </div>
      <div className={css.page}>
        {/* Scripts never run in it; of the same origin, it loads the fonts of the portal. */}
        {last.current !== undefined && (
          <iframe title={t.trust.preview.frame} sandbox="allow-same-origin" srcDoc={last.current} onLoad={arrange} />
        )}
      </div>
    </aside>
  );
}
