import { Button, Tabs } from '@mantine/core';
import { IconArrowLeft, IconFileTypePdf } from '@tabler/icons-react';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { usePeople } from '../api/people';
import { Problem } from '../api/problem';
import { useRecord, type Versioned } from '../api/records';
import { useMe } from '../api/session';
import { Comments, Composer, useComments } from '../parts/Comments';
import { MissingPage, SectionError } from '../parts/ErrorPage';
import { Files, useFiles } from '../parts/Files';
import { moment } from '../parts/format';
import { Glyph } from '../parts/glyphs';
import { PageHeader } from '../parts/PageHeader';
import { Person } from '../parts/Person';
import { StatusPill } from '../parts/StatusPill';
import { useView } from '../parts/search';
import { t } from '../texts';
import { Actions } from './Actions';
import { Assistant } from './Assistant';
import { Compare } from './Compare';
import { isSame, type Node, outline } from './content';
import css from './Detail.module.css';
import { Details } from './Details';
import { draftOf, dropDraft } from './draft';
import { FileText } from './FileText';
import { type PolicyView, statusOf } from './fields';
import { Lines } from './Lines';
import { Outline } from './Outline';
import { downloadPolicy } from './print';
import { type Proposed, useProposal } from './proposal';
import { useSignatures, useToSign, useVersion, useVersions } from './queries';
import { Review } from './Review';
import { Signatures } from './Signatures';
import { Text } from './Text';
import { Versions } from './Versions';

const Editor = lazy(() => import('./Editor'));

export function Policy() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const { data, error, refetch } = useRecord('/v1/policies', id);
  if (error instanceof Problem && (error.status === 404 || error.status === 403 || error.status === 400)) return <MissingPage />;
  if (error && !data)
    return (
      <>
        <PageHeader title={t.policies.title} />
        <SectionError error={error} onRetry={() => void refetch()} />
      </>
    );
  if (!data) return <Waiting />;
  return <Page key={id} record={data} />;
}

function Waiting() {
  return (
    <>
      <PageHeader title={t.policies.title} />
      <div className={css.wait}>
        <Lines />
      </div>
    </>
  );
}

function Page({ record }: { record: Versioned<PolicyView> }) {
  const { data: policy, version } = record;
  const { id } = policy;
  const { view, change: go } = useView();
  const { can } = useMe();
  const people = usePeople();
  const seesAll = can('policy:read');
  const mayUpdate = can('policy:update') && !policy.isArchived;
  const toSign = useToSign();
  const signatures = useSignatures(id, seesAll);
  const proposal = useProposal(id, mayUpdate ? version : undefined);
  const mustSign = toSign.data?.data.some((one) => one.id === id) ?? false;
  const hasAssistant = mayUpdate && !policy.fileId && view.assistant !== undefined;
  const tab = seesAll ? (view.tab ?? 'text') : 'text';
  const propose = (content: Node[], isMine = false) => {
    proposal.propose(content, isMine);
    void go({ edit: undefined, compare: undefined, version: undefined, tab: undefined });
  };

  return (
    <div className={css.page}>
      <div className={css.head}>
        <PageHeader
          crumb={
            <>
              <Link to={'/policies' as string}>{t.policies.title}</Link>
              <span aria-hidden="true">›</span>
              <span className="mono">{policy.reference}</span>
            </>
          }
          title={policy.name}
          state={<StatusPill {...statusOf(policy)} loud />}
          facts={[
            ...(seesAll ? [<Steps key="steps" policy={policy} />] : []),
            ...(policy.status === 'needs_review' && policy.approverId
              ? [
                  <span key="approver" className={css.fact}>
                    {t.policies.fields.approverId} <Person name={people.name(policy.approverId)} short />
                  </span>,
                ]
              : []),
            ...published(policy, signatures.data),
          ]}
          actions={<Actions record={record} mustSign={mustSign} proposal={proposal} isEditing={view.edit !== undefined} />}
        >
          {seesAll && (
            <PageTabs policy={policy} tab={tab} onTab={(next) => void go({ tab: next === 'text' ? undefined : next })} />
          )}
        </PageHeader>
      </div>
      <div className={css.body}>
        <Panel tab={tab} record={record} proposal={proposal} onPropose={propose} mustSign={mustSign} />
        {hasAssistant && (
          <Assistant
            id={id}
            proposal={proposal}
            onProposal={propose}
            onShow={() => void go({ assistant: undefined })}
            onClose={() => void go({ assistant: undefined })}
          />
        )}
      </div>
    </div>
  );
}

function published(policy: PolicyView, signatures: { signedCount: number; missingCount: number } | undefined): ReactNode[] {
  if (!policy.currentVersion) return [];
  const v = t.policies.v(policy.currentVersion);
  if (!signatures || !policy.isRequiredToSign) return [<span key="version">{t.policies.isPublished(v)}</span>];
  const { signedCount, missingCount } = signatures;
  return [
    <span key="signed">
      {t.policies.signedBy(v)} <b>{t.policies.of(signedCount, signedCount + missingCount)}</b>
    </span>,
  ];
}

/** How far the policy is on its way to its readers. */
function Steps({ policy }: { policy: PolicyView }) {
  const steps = ['draft', 'needs_review', 'published'] as const;
  const at = steps.indexOf(policy.status);
  const shape = (place: number) => (place < at || policy.status === 'published' ? 'check' : place === at ? 'half' : 'ring');
  return (
    <ol className={css.steps} data-screen aria-label={t.policies.fields.status}>
      {steps.map((step, place) => (
        <li key={step} aria-current={place === at ? 'step' : undefined}>
          <Glyph shape={shape(place)} tone={shape(place) === 'check' ? 'ok' : place === at ? 'info' : 'mute'} />
          {t.policies.status[step]}
        </li>
      ))}
    </ol>
  );
}

function PageTabs({ policy, tab, onTab }: { policy: PolicyView; tab: string; onTab: (next: string) => void }) {
  const { id } = policy;
  const comments = useComments({ entityType: 'policy', entityId: id });
  const files = useFiles('/v1/policies', id);
  const versions = useVersions(id);
  const { tabs } = t.policies;
  const all: [string, string, number?][] = [
    ['text', tabs.text],
    ['versions', tabs.versions, versions.data?.data.length],
    ['signatures', tabs.signatures],
    ['comments', t.record.comments, comments.data?.data.length],
    ['files', t.record.files, files.data?.length],
    ['details', tabs.details],
  ];
  return (
    <Tabs value={tab} onChange={(next) => onTab(next ?? 'text')} className={css.tabs}>
      <Tabs.List>
        {all.map(([value, label, count]) => (
          <Tabs.Tab key={value} value={value} aria-controls="policy-panel">
            {label} {count ? <span className="num t3">{count}</span> : null}
          </Tabs.Tab>
        ))}
      </Tabs.List>
    </Tabs>
  );
}

type PanelProps = {
  tab: string;
  record: Versioned<PolicyView>;
  proposal: Proposed;
  onPropose: (content: Node[], isMine: boolean) => void;
  mustSign: boolean;
};

function Panel({ tab, record, proposal, onPropose, mustSign }: PanelProps) {
  const { id } = record.data;
  const { can } = useMe();
  const panels: Record<string, () => ReactNode> = {
    versions: () => <Versions policy={record.data} />,
    signatures: () => <Signatures policy={record.data} />,
    comments: () => (
      <div className={css.column}>
        <Comments entityType="policy" entityId={id} />
        {can('comment:create') && <Composer entityType="policy" entityId={id} />}
      </div>
    ),
    files: () => (
      <div className={css.column}>
        <Files path="/v1/policies" id={id} canChange={can('policy:update')} />
      </div>
    ),
    details: () => <Details record={record} />,
  };
  const shown = panels[tab];
  return (
    <div
      className={css.scroll}
      id="policy-panel"
      tabIndex={0}
      role={can('policy:read') ? 'tabpanel' : 'region'}
      aria-label={record.data.name}
    >
      {shown ? (
        <div className={css.other}>{shown()}</div>
      ) : (
        <TextPanel record={record} proposal={proposal} onPropose={onPropose} mustSign={mustSign} />
      )}
    </div>
  );
}

/** The text: read, edited, reviewed, compared, or as it was in an older version. */
function TextPanel({ record, proposal, onPropose, mustSign }: Omit<PanelProps, 'tab'>) {
  const { data: policy, version } = record;
  const { view, change: go } = useView();
  const { can } = useMe();
  const mayUpdate = can('policy:update') && !policy.isArchived;
  const versions = useVersions(policy.id, can('policy:read') && view.compare !== undefined);
  const [, look] = useState(0);
  const nodes = policy.content ?? [];
  const found = draftOf(policy.id);
  const draft = found && !isSame(found.content, nodes) ? found : undefined;

  if (view.compare) {
    const [a = '1', b = 'draft'] = view.compare.split('..');
    return (
      <Sheet nodes={[]}>
        <Compare
          id={policy.id}
          versions={versions.data?.data ?? []}
          a={a}
          b={b}
          onChange={(from, to) => void go({ compare: `${from}..${to}` }, { replace: true })}
          onClose={() => void go({ compare: undefined })}
        />
      </Sheet>
    );
  }
  if (view.version) return <OldVersion policy={policy} version={view.version} mustSign={mustSign} />;
  if (proposal.isOpen && mayUpdate)
    return (
      <Sheet
        nodes={proposal.changes.map(({ after, before }) => after ?? before)}
        marks={(place) => {
          const change = proposal.changes[place];
          return change !== undefined && proposal.open.includes(change);
        }}
      >
        <Review proposal={proposal} />
      </Sheet>
    );
  if (policy.fileId) return <FileText policy={policy} mayUpdate={mayUpdate} />;
  if (view.edit && mayUpdate)
    return (
      <Sheet nodes={nodes}>
        <Suspense fallback={<Text nodes={draft?.content ?? nodes} />}>
          <Editor
            id={policy.id}
            saved={draft?.base ?? { version, content: nodes }}
            content={draft?.content ?? nodes}
            note={policy.status === 'draft' ? undefined : t.policies.editNote[policy.status]}
            onDone={() => void go({ edit: undefined })}
            onCompare={(mine) => onPropose(mine, true)}
          />
        </Suspense>
      </Sheet>
    );
  return (
    <Sheet nodes={nodes}>
      {draft && mayUpdate && (
        <Notice text={t.policies.keptDraft(moment(draft.at))}>
          <Button size="xs" variant="default" onClick={() => void go({ edit: 'yes' })}>
            {t.policies.goOn}
          </Button>
          <Button
            size="xs"
            variant="subtle"
            onClick={() => {
              dropDraft(policy.id);
              look((times) => times + 1);
            }}
          >
            {t.policies.discard}
          </Button>
        </Notice>
      )}
      {can('policy:read') && policy.currentVersion && policy.status !== 'published' && (
        <Notice text={t.policies.aheadOf(t.policies.v(policy.currentVersion))}>
          <Button size="xs" variant="default" onClick={() => void go({ version: String(policy.currentVersion) })}>
            {t.policies.readVersion(t.policies.v(policy.currentVersion))}
          </Button>
        </Notice>
      )}
      {nodes.length === 0 ? <NoText mayUpdate={mayUpdate} onEdit={() => void go({ edit: 'yes' })} /> : <Text nodes={nodes} />}
    </Sheet>
  );
}

function NoText({ mayUpdate, onEdit }: { mayUpdate: boolean; onEdit: () => void }) {
  return (
    <div className={css.empty}>
      <p>{t.policies.noText}</p>
      {mayUpdate && (
        <Button variant="default" onClick={onEdit}>
          {t.policies.write}
        </Button>
      )}
    </div>
  );
}

export function Notice({ text, children }: { text: string; children?: ReactNode }) {
  return (
    <div className={css.notice} role="note">
      <span>{text}</span>
      {children}
    </div>
  );
}

type SheetProps = { nodes: (Node | null | undefined)[]; marks?: (place: number) => boolean; children: ReactNode };

/** The page that a text is on, with its sections beside it. */
function Sheet({ nodes, marks, children }: SheetProps) {
  const parts = outline(nodes);
  return (
    <div className={css.sheet}>
      {parts.length > 2 && <Outline parts={parts} marks={marks} />}
      <div className={css.doc}>{children}</div>
    </div>
  );
}

function OldVersion({ policy, version, mustSign }: { policy: PolicyView; version: string; mustSign: boolean }) {
  const { data, error, refetch } = useVersion(policy.id, version);
  const { change: go } = useView();
  const { can } = useMe();
  const people = usePeople();
  if (error) return <SectionError error={error} onRetry={() => void refetch()} />;
  if (!data)
    return (
      <Sheet nodes={[]}>
        <Lines />
      </Sheet>
    );
  const isCurrent = data.id === policy.currentVersionId;
  return (
    <Sheet nodes={data.content ?? []}>
      <Notice
        text={t.policies.versionLine(t.policies.versionOf(data.version), moment(data.publishedAt), people.name(data.approverId))}
      >
        {isCurrent && mustSign && <span className={css.flag}>{t.policies.toBeSigned}</span>}
        {!data.file && (
          <Button
            size="xs"
            variant="subtle"
            leftSection={<IconFileTypePdf size={15} stroke={1.6} />}
            onClick={() => downloadPolicy(policy.id, data.version)}
          >
            {t.policies.pdf}
          </Button>
        )}
        {can('policy:read') && (
          <Button size="xs" variant="subtle" onClick={() => void go({ compare: `${data.version}..draft`, version: undefined })}>
            {t.policies.compareDraft}
          </Button>
        )}
        <Button
          size="xs"
          variant="default"
          leftSection={<IconArrowLeft size={15} stroke={1.6} />}
          onClick={() => void go({ version: undefined })}
        >
          {t.policies.backToText}
        </Button>
      </Notice>
      {data.file ? <p className={css.empty}>{t.policies.versionIsFile(data.file.name)}</p> : <Text nodes={data.content ?? []} />}
    </Sheet>
  );
}
