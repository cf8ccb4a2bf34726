import { Button, Tabs } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { useTotal } from '../api/lists';
import { useMe } from '../api/session';
import { Conflict } from '../parts/Conflict';
import { useConfirm } from '../parts/confirm';
import { MissingPage, SectionError } from '../parts/ErrorPage';
import { PageHeader } from '../parts/PageHeader';
import { StatusPill } from '../parts/StatusPill';
import { useView } from '../parts/search';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { Agreement } from './Agreement';
import { Certificates } from './Certificates';
import { Documents } from './Documents';
import { Domain } from './Domain';
import { Grants } from './Grants';
import { Page } from './Page';
import { Posts } from './Posts';
import { Processors } from './Processors';
import { type Form, none, type Patch, useDraft } from './queries';
import { Requests } from './Requests';
import css from './trust.module.css';
import { Visits } from './Visits';

/** Each part of the page and what it takes to see it. */
const tabs = [
  ['page', 'trust-portal:read'],
  ['requests', 'trust-access:read'],
  ['grants', 'trust-access:read'],
  ['visits', 'trust-access:read'],
  ['certificates', 'trust-portal:read'],
  ['agreement', 'trust-portal:read'],
  ['domain', 'trust-portal:read'],
  ['updates', 'trust-portal:read'],
  ['questions', 'trust-portal:read'],
  ['processors', 'trust-portal:read'],
] as const;
type Tab = (typeof tabs)[number][0];

export function TrustPortal() {
  const { can } = useMe();
  return tabs.some(([, permission]) => can(permission)) ? <Portal /> : <MissingPage />;
}

function Portal() {
  const { view, change } = useView();
  const { can } = useMe();
  const form = useDraft();
  const { settings, error, again } = form;
  const mayReview = can('trust-access:read');
  const waiting = useTotal('/v1/trust-access/admin/requests', { status: 'under_review' }, mayReview);
  const active = useTotal('/v1/trust-access/admin/grants', { status: 'active' }, mayReview);
  const shown = tabs.filter(([, permission]) => can(permission));
  const tab = shown.find(([key]) => key === view.tab)?.[0] ?? shown[0]?.[0];
  // Filters and the open record belong to one tab.
  const go = (next: string | null) => void change({ ...none(view), tab: next ?? undefined });

  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (tab) list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [tab]);

  return (
    <div className={css.screen}>
      <PageHeader
        title={t.nav.trust}
        state={settings && <Status status={settings.status} />}
        facts={
          settings
            ? [
                <span key="url" className={css.address}>
                  {settings.url.replace(/^https?:\/\//, '')}
                </span>,
                ...(waiting ? [<b key="waiting">{t.trust.facts.waiting(waiting)}</b>] : []),
                ...(active === undefined ? [] : [<span key="active">{t.trust.facts.active(active)}</span>]),
                <span key="subscribers">{t.trust.facts.subscribers(settings.subscriberCount)}</span>,
              ]
            : []
        }
        actions={settings && <Actions form={form} mayChange={can('trust-portal:update')} />}
      />
      {form.conflict && (
        <div className={css.conflict}>
          <Conflict
            conflict={form.conflict}
            labels={t.trust.fields}
            read={(_, value) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? ''))}
            onSettle={(chosen) => form.settle(chosen as Patch | undefined)}
          />
        </div>
      )}
      {error && <SectionError error={error} onRetry={() => void again()} />}
      <Tabs value={tab ?? null} onChange={go} keepMounted={false} className={css.tabs}>
        <Tabs.List ref={list} className={css.list} aria-label={t.trust.tabs.label}>
          {shown.map(([key]) => (
            <Tabs.Tab key={key} value={key}>
              {t.trust.tabs[key]}
              {key === 'requests' && waiting ? <span className={css.count}>{waiting}</span> : null}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {shown.map(([key]) => (
          <Tabs.Panel key={key} value={key}>
            <Part tab={key} form={form} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </div>
  );
}

function Part({ tab, form }: { tab: Tab; form: Form }) {
  switch (tab) {
    case 'page':
      return <Page form={form} />;
    case 'certificates':
      return (
        <>
          <Documents form={form} />
          <Certificates settings={form.settings} />
        </>
      );
    case 'domain':
      return <Domain form={form} />;
    case 'agreement':
      return <Agreement form={form} />;
    case 'requests':
      return <Requests settings={form.settings} />;
    case 'grants':
      return <Grants />;
    case 'visits':
      return <Visits />;
    case 'updates':
      return <Posts key="update" kind="update" subscribers={form.settings?.subscriberCount ?? 0} />;
    case 'questions':
      return <Posts key="question" kind="question" subscribers={0} />;
    case 'processors':
      return <Processors />;
  }
}

function Status({ status }: { status: 'draft' | 'published' }) {
  const isPublished = status === 'published';
  return (
    <StatusPill
      label={t.trust.status[status]}
      tone={isPublished ? 'ok' : 'mute'}
      shape={isPublished ? 'check' : 'dash'}
      loud={isPublished}
    />
  );
}

/** Publishing is asked about, as the public sees the page at once. */
function Actions({ form, mayChange }: { form: Form; mayChange: boolean }) {
  const { ask, dialog } = useConfirm();
  const { settings } = form;
  if (!settings) return null;
  const isPublished = settings.status === 'published';
  /** What somebody may have overlooked before everybody sees the page. */
  const lacks = [
    !settings.overview && settings.documents.every((one) => one.visibility === 'hidden') && t.trust.publishEmpty,
    !settings.friendlyUrl && !settings.domain && t.trust.publishUnnamed,
  ].filter((text) => text !== false);
  const turn = async (status: 'draft' | 'published') => {
    if (await form.save({ status })) toast(status === 'published' ? t.trust.published : t.trust.unpublished);
  };
  return (
    <>
      {isPublished && mayChange && (
        <Button
          variant="default"
          onClick={() =>
            ask({
              title: t.trust.unpublishAsk,
              text: t.trust.unpublishText,
              verb: t.trust.unpublish,
              act: () => turn('draft'),
            })
          }
        >
          {t.trust.unpublish}
        </Button>
      )}
      {isPublished && (
        <Button
          component="a"
          href={settings.url}
          target="_blank"
          rel="noopener"
          variant="default"
          leftSection={<IconExternalLink size={16} stroke={1.6} />}
        >
          {t.trust.open}
        </Button>
      )}
      {!isPublished && mayChange && (
        <Button
          data-primary
          onClick={() =>
            ask({
              title: lacks.length > 0 ? t.trust.publishAnywayAsk : t.trust.publishAsk,
              text: [...lacks, t.trust.publishText(settings.url)].join(' '),
              verb: lacks.length > 0 ? t.trust.publishAnyway : t.trust.publish,
              act: () => turn('published'),
            })
          }
        >
          {t.trust.publish}
        </Button>
      )}
      {dialog}
    </>
  );
}
