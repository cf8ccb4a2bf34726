import { Button } from '@mantine/core';
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Problem, words } from '../api/problem';
import { t } from '../texts';
import css from './ErrorPage.module.css';

function Notice({ title, text, children }: { title: string; text: string; children?: ReactNode }) {
  return (
    <div className={css.notice}>
      <h1>{title}</h1>
      <p>{text}</p>
      <div className={css.actions}>{children}</div>
    </div>
  );
}

export function MissingPage() {
  return (
    <Notice title={t.problems.missingTitle} text={t.problems.missingText}>
      <Button component={Link} to="/">
        {t.problems.home}
      </Button>
    </Notice>
  );
}

export function ErrorPage({ error, reset }: Pick<ErrorComponentProps, 'error' | 'reset'>) {
  if (error instanceof Problem && (error.status === 404 || error.status === 403)) return <MissingPage />;
  const text = error instanceof Problem ? error.message : t.problems.crash;
  return (
    <Notice title={t.problems.pageTitle} text={text}>
      <Button
        onClick={() => {
          reset();
          location.reload();
        }}
      >
        {t.problems.reload}
      </Button>
    </Notice>
  );
}

/** Where a part of a page would be. The rest of the page goes on. */
export function SectionError({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div className={css.section} role="alert">
      <b>{t.problems.sectionTitle}</b>
      <p>{words(error)}</p>
      {onRetry && (
        <Button size="xs" variant="default" onClick={onRetry}>
          {t.actions.retry}
        </Button>
      )}
    </div>
  );
}
