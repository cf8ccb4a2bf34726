import { Button, Checkbox } from '@mantine/core';
import { IconCopy, IconRocket } from '@tabler/icons-react';
import { useState } from 'react';
import { $api, api, type Schemas } from '../api/client';
import { useList, useTotal } from '../api/lists';
import { usePeople } from '../api/people';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { Drawer } from '../parts/Drawer';
import { EmptyState } from '../parts/EmptyState';
import { SectionError } from '../parts/ErrorPage';
import { Field } from '../parts/Field';
import { day, moment, utc } from '../parts/format';
import type { Group } from '../parts/list/Arrange';
import { ListPage } from '../parts/list/ListPage';
import type { Column } from '../parts/list/Table';
import { type Status, StatusPill } from '../parts/StatusPill';
import { addressOf, useView } from '../parts/search';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { useAsk } from './Ask';
import { ACCESS, none, queryOf, type Request, type Settings, useSettings } from './queries';
import css from './trust.module.css';

type Details = Schemas['AccessRequestDetails'];
const WAITING = 'under_review';

const look = {
  under_review: { tone: 'warn', shape: 'clock' },
  approved: { tone: 'ok', shape: 'check' },
  denied: { tone: 'mute', shape: 'cross' },
} as const;
const statusOf = (status: Request['status']): Status => ({ ...look[status], label: t.trust.requests.status[status] });

/** Opens the agreement as a file. */
export async function previewNda(id: string) {
  const { data } = await api.POST('/v1/trust-access/admin/requests/{id}/preview-nda', { params: { path: { id } } });
  if (data) location.assign(data.pdfDownloadUrl);
}

/** Who asks for documents; those who wait come first. */
export function Requests({ settings }: { settings: Settings | undefined }) {
  const { view } = useView();
  const path = '/v1/trust-access/admin/requests';
  // In an order that was chosen, or among chosen ones, those who wait have no place of their own.
  const isUsual = view.status === undefined && view.sort === undefined;
  const waiting = useList(path, { status: WAITING }, { enabled: isUsual });
  const all = useList(path, queryOf(view));
  const total = useTotal(path, {});
  const rows = isUsual ? [...waiting.rows, ...all.rows.filter((one) => one.status !== WAITING)] : all.rows;
  return (
    <ListPage
      isPart
      title={t.trust.tabs.requests}
      list={{ ...all, rows }}
      all={total}
      filters={[{ key: 'status', isMany: true, label: t.trust.requests.state, values: choices(t.trust.requests.status) }]}
      groups={groups()}
      views="access-requests"
      sort={{ key: '', dir: 'desc' }}
      columns={columns()}
      name={(row) => row.name}
      hrefOf={(row) => addressOf('/trust-portal', { ...view, tab: 'requests', open: row.id })}
      phone={(row) => ({
        title: row.name,
        facts: (
          <>
            <StatusPill {...statusOf(row.status)} />
            <span className="clip">{[row.company, moment(row.createdAt)].filter(Boolean).join(' · ')}</span>
          </>
        ),
      })}
      drawer={({ id, ...drawer }) => <Open key={id} id={id} {...drawer} />}
      empty={<Empty settings={settings} />}
    />
  );
}

export const choices = (words: Record<string, string>) => Object.entries(words).map(([value, label]) => ({ value, label }));

function columns(): Column<Request>[] {
  const texts = t.trust.requests;
  return [
    { key: 'who', header: texts.who, opens: true, sort: 'name', render: (row) => `${row.name} · ${row.email}` },
    { key: 'company', priority: 3, header: texts.company, width: 180, sort: 'company', render: (row) => row.company },
    {
      key: 'purpose',
      priority: 4,
      header: texts.purpose,
      width: 220,
      sort: 'purpose',
      render: (row) => row.purpose && <span title={row.purpose}>{row.purpose}</span>,
    },
    {
      key: 'state',
      priority: 1,
      header: texts.state,
      width: 120,
      sort: 'status',
      render: (row) => <StatusPill {...statusOf(row.status)} />,
    },
    {
      key: 'asked',
      priority: 2,
      header: texts.asked,
      width: 130,
      sort: 'createdAt',
      isHighFirst: true,
      render: (row) => moment(row.createdAt),
    },
  ];
}

/** What rows can be grouped by. */
function groups(): Group<Request>[] {
  const texts = t.trust.requests;
  return [
    {
      key: 'status',
      label: texts.state,
      sort: 'status',
      of: ({ status }) => ({ key: status, label: texts.status[status] }),
    },
    {
      key: 'company',
      label: texts.company,
      sort: 'company',
      of: ({ company }) => ({ key: company?.toLowerCase() ?? '', label: company ?? t.edits.none }),
    },
  ];
}

function Empty({ settings }: { settings: Settings | undefined }) {
  const { change } = useView();
  const { empty } = t.trust.requests;
  const url = settings?.url ?? '';
  const way =
    settings?.status === 'published'
      ? {
          icon: <IconCopy size={18} stroke={1.6} />,
          label: empty.share,
          hint: empty.shareHint,
          onPick: () => void navigator.clipboard.writeText(url).then(() => toast(t.actions.copied)),
        }
      : {
          icon: <IconRocket size={18} stroke={1.6} />,
          label: empty.publish,
          hint: empty.publishHint,
          onPick: () => void change({ tab: undefined }),
        };
  return <EmptyState title={empty.title} lead={empty.lead} ways={[way]} />;
}

function Open({ id, onClose, onStep }: { id: string; onClose: () => void; onStep: (by: 1 | -1) => void }) {
  const {
    data,
    error,
    refetch: again,
  } = $api.useQuery('get', '/v1/trust-access/admin/requests/{id}', { params: { path: { id } } });
  const { can } = useMe();
  const people = usePeople();
  const texts = t.trust.requests;
  const settings = useSettings().data?.data;
  const [granted, setGranted] = useState<string[]>();
  if (error || !data)
    return (
      <Drawer reference="" title={error ? t.problems.missingTitle : ''} name={t.trust.tabs.requests} onClose={onClose}>
        {error && <SectionError error={error} onRetry={() => void again()} />}
      </Drawer>
    );
  const nda = data.ndaAgreement;
  const documents = data.documents.map((document) => {
    const label = settings?.documents.find((one) => one.document === document)?.title ?? document;
    return { document, label };
  });
  const facts: [string, React.ReactNode][] = [
    [texts.state, <StatusPill key="state" {...statusOf(data.status)} />],
    [texts.email, data.email],
    [texts.company, data.company],
    [texts.job, data.jobTitle],
    [texts.purpose, data.purpose && <span className={css.purpose}>{data.purpose}</span>],
    [texts.wanted, data.requestedDurationDays ? texts.days(data.requestedDurationDays) : texts.usual],
    ...(documents.length > 0
      ? ([
          [
            t.trust.documents.asked,
            <div key="documents" className={css.asked}>
              {documents.map(({ document, label }) => (
                <Checkbox
                  key={document}
                  label={label}
                  checked={(granted ?? data.documents).includes(document)}
                  disabled={data.status !== WAITING || !can('trust-access:review')}
                  onChange={(event) => {
                    const isIn = event.currentTarget.checked;
                    setGranted((old = data.documents) => (isIn ? [...old, document] : old.filter((one) => one !== document)));
                  }}
                />
              ))}
            </div>,
          ],
        ] satisfies [string, React.ReactNode][])
      : []),
    [
      texts.asked,
      <span key="asked" title={utc(data.createdAt)}>
        {moment(data.createdAt)}
      </span>,
    ],
  ];
  if (data.reviewedAt)
    facts.push([texts.decided, texts.by(people.name(data.reviewedBy) ?? t.record.somebody, moment(data.reviewedAt))]);
  if (data.denialReason)
    facts.push([
      texts.reason,
      <span key="reason" className={css.purpose}>
        {data.denialReason}
      </span>,
    ]);
  if (nda) facts.push([texts.agreement, agreement(nda)]);
  if (nda?.signature) {
    facts.push([
      texts.code,
      <span key="code" className="mono">
        {nda.signature.code}
      </span>,
    ]);
    if (nda.signature.ip)
      facts.push([
        texts.from,
        <span key="ip" className="mono">
          {nda.signature.ip}
        </span>,
      ]);
  }
  return (
    <Drawer reference={moment(data.createdAt)} title={data.name} name={texts.name(data.name)} onClose={onClose} onStep={onStep}>
      <dl style={{ margin: '12px 0 0' }}>
        {facts.map(([label, value]) => (
          <Field key={label} name={label} label={label} kind="text" value={null}>
            {value}
          </Field>
        ))}
      </dl>
      <Acts request={data} documents={granted ?? data.documents} mayReview={can('trust-access:review')} />
    </Drawer>
  );
}

function agreement({ status, expiresAt, signature }: NonNullable<Details['ndaAgreement']>): string {
  const texts = t.trust.requests;
  const isOver = new Date(expiresAt) < new Date();
  const more = {
    pending: isOver ? texts.expired : texts.until(day(expiresAt.slice(0, 10))),
    signed: signature ? texts.signedBy(signature.name, moment(signature.signedAt)) : '',
    void: '',
  }[status];
  return [texts.nda[status], more].filter(Boolean).join(', ');
}

/** What can be done about a request as it is. */
function Acts({ request, documents, mayReview }: { request: Details; documents: string[]; mayReview: boolean }) {
  const { view, change } = useView();
  const { ask, dialog } = useAsk();
  const texts = t.trust.requests;
  const path = { id: request.id };
  const { data: settings } = $api.useQuery('get', '/v1/trust-portal/settings', {}, { enabled: mayReview });
  const isWaiting = request.status === WAITING;
  const isSigned = request.ndaAgreement?.status === 'signed';
  const tell = (act: Promise<unknown>) => void act.catch((problem) => toast(words(problem), { bad: true }));

  async function approve(days: string) {
    const body = { ...(days && { durationDays: Number(days) }), documents };
    await api.POST('/v1/trust-access/admin/requests/{id}/approve', { params: { path }, body });
    toast(texts.sent(request.email));
    await refetch(ACCESS);
  }
  async function deny(reason: string) {
    await api.POST('/v1/trust-access/admin/requests/{id}/deny', { params: { path }, body: { reason } });
    toast(texts.denied(request.name));
    await refetch(ACCESS);
  }
  async function resend() {
    await api.POST('/v1/trust-access/admin/requests/{id}/resend-nda', { params: { path } });
    toast(texts.sent(request.email));
    await refetch(ACCESS);
  }
  async function download() {
    const { data } = await api.GET('/v1/trust-access/admin/requests/{id}/nda/download', { params: { path } });
    if (data) location.assign(data.downloadUrl);
  }

  return (
    <div className={css.acts}>
      {isWaiting && mayReview && (
        <>
          <Button
            onClick={() =>
              ask({
                title: texts.approveTitle(request.name),
                text: texts.approveText(request.email),
                label: texts.approveDays,
                field: 'durationDays',
                value: String(request.requestedDurationDays ?? settings?.defaultDurationDays ?? ''),
                verb: texts.approveVerb,
                act: approve,
              })
            }
          >
            {texts.approve}
          </Button>
          <Button
            variant="default"
            onClick={() =>
              ask({
                title: texts.denyTitle(request.name),
                text: texts.denyText(request.email),
                label: texts.reason,
                field: 'reason',
                verb: texts.denyVerb,
                isFinal: true,
                act: deny,
              })
            }
          >
            {texts.deny}
          </Button>
        </>
      )}
      {request.status === 'approved' && !isSigned && mayReview && (
        <Button variant="default" onClick={() => tell(resend())}>
          {texts.resend}
        </Button>
      )}
      {isSigned ? (
        <Button variant="default" onClick={() => tell(download())}>
          {texts.download}
        </Button>
      ) : (
        <Button variant="default" onClick={() => tell(previewNda(request.id))}>
          {texts.previewNda}
        </Button>
      )}
      {request.grantId && (
        <Button
          variant="subtle"
          onClick={() => void change({ ...none(view), tab: 'visits', grant: request.grantId ?? undefined })}
        >
          {texts.visits}
        </Button>
      )}
      {dialog}
    </div>
  );
}
