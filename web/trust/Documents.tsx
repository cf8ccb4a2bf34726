import { Select } from '@mantine/core';
import { words } from '../api/problem';
import { useMe } from '../api/session';
import { toast } from '../parts/toast';
import { t } from '../texts';
import type { Document, Form } from './queries';
import css from './trust.module.css';

/** Every certificate and published policy, and who may read it. */
export function Documents({ form }: { form: Form }) {
  const { can } = useMe();
  const { settings } = form;
  if (!settings) return null;
  const texts = t.trust.documents;
  const choices = Object.entries(texts.visibility).map(([value, label]) => ({ value, label }));

  async function choose({ document, title }: Document, visibility: Document['visibility']) {
    try {
      if (await form.save({ documents: [{ document, visibility }] })) toast(texts.saved(title, texts.visibility[visibility]));
    } catch (error) {
      toast(words(error), { bad: true });
    }
  }

  return (
    <section className={css.panel} aria-label={texts.title}>
      <p className={css.lead}>{settings.documents.length > 0 ? texts.lead : texts.none}</p>
      <ul className={css.certificates}>
        {settings.documents.map((one) => {
          const isHiddenByFramework =
            one.visibility === 'hidden' &&
            settings.frameworks.some((other) => other.framework === one.document && !other.enabled);
          return (
            <li key={one.document} className={css.document}>
              <div className={css.file}>
                {one.title}
                <small>
                  {isHiddenByFramework
                    ? texts.frameworkHidden
                    : one.document.startsWith('pol_')
                      ? texts.policy
                      : texts.certificate}
                </small>
              </div>
              <Select
                size="xs"
                aria-label={texts.who(one.title)}
                data={choices}
                value={one.visibility}
                allowDeselect={false}
                disabled={!can('trust-portal:update') || isHiddenByFramework}
                onChange={(next) => next && void choose(one, next as Document['visibility'])}
              />
            </li>
          );
        })}
      </ul>
    </section>
  );
}
