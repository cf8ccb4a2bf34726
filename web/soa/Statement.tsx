import { ActionIcon, Button, Menu, Select, Switch } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconChevronDown, IconFileCertificate, IconHistory, IconPlus, IconUser, IconX } from '@tabler/icons-react';
import { type ReactNode, useEffect, useState } from 'react';
import { api } from '../api/client';
import { usePeople } from '../api/people';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { EmptyState } from '../parts/EmptyState';
import { MissingPage, SectionError } from '../parts/ErrorPage';
import { ExportMenu, TABLES } from '../parts/ExportMenu';
import { day, moment } from '../parts/format';
import { isDay, NoDate } from '../parts/NoDate';
import { PageHeader } from '../parts/PageHeader';
import { PastBar } from '../parts/PastBar';
import { Specimen } from '../parts/Specimen';
import { useView } from '../parts/search';
import { toast } from '../parts/toast';
import { PastButton } from '../parts/ViewTools';
import { t } from '../texts';
import { type Answers, useAnswers } from './answers';
import { Comparison } from './Comparison';
import { DocumentPill } from './cells';
import { Approve, Decline, Submit, WhyNot } from './Decisions';
import { Details } from './Details';
import { FillButton, Filling, useFill } from './Fill';
import { Grid, Keys } from './Grid';
import { counts, hasGap, isUnanswered, type Patch, type Row, themes } from './logic';
import { Phone } from './Phone';
import { Progress } from './Progress';
import { type Document, own, useDocuments, useFrameworks, useRows } from './queries';
import css from './soa.module.css';
import { Verify } from './Verify';
import { Versions } from './Versions';

const ASKED_MOST = 'iso_27001';

export function Applicability() {
  const { can } = useMe();
  return can('soa:read') ? <Statement /> : <MissingPage />;
}

/** Finds the statement that the address names, or else the one that was changed last. */
function Statement() {
  const { view, change: go } = useView();
  const frameworks = useFrameworks();
  const documents = useDocuments();
  const error = documents.error ?? frameworks.error;
  const all = documents.data?.data ?? [];
  const named = frameworks.data?.data.find(({ id, alias }) => id === view.framework || alias === view.framework);
  const newest = all.toSorted((one, other) => other.updatedAt.localeCompare(one.updatedAt))[0];
  const frameworkId = named?.id ?? all.find(({ id }) => id === view.version)?.frameworkId ?? newest?.frameworkId;
  const asOf = view.asOf?.slice(0, 10);
  // Of the past only what there was at the end of that day.
  const versions = all
    .filter((one) => one.frameworkId === frameworkId && (!asOf || one.createdAt.slice(0, 10) <= asOf))
    .toSorted((one, other) => other.version - one.version);
  const document = versions.find(({ id }) => id === view.version) ?? versions[0];

  if (view.asOf && !isDay(view.asOf))
    return (
      <>
        <PageHeader title={t.soa.title} />
        <NoDate text={view.asOf} onBack={() => void go({ asOf: undefined }, { replace: true })} />
      </>
    );
  if (error)
    return (
      <>
        <PageHeader title={t.soa.title} />
        <SectionError
          error={error}
          onRetry={() => {
            void documents.refetch();
            void frameworks.refetch();
          }}
        />
      </>
    );
  if (!documents.data || !frameworks.data)
    return (
      <>
        <PageHeader title={t.soa.title} />
        <Bars />
      </>
    );
  if (asOf && !document)
    return (
      <div className={css.page} data-past>
        <div className={css.main}>
          <Past asOf={asOf} />
          <PageHeader title={t.soa.title} />
          <p className={css.none}>{t.soa.noneThen(day(asOf))}</p>
        </div>
      </div>
    );
  if (!document) return <Start wanted={view.framework} />;
  return <Sheet key={`${document.id} ${asOf !== undefined}`} document={document} versions={versions} asOf={asOf} />;
}

/** The bar over a statement of the past. */
function Past({ asOf }: { asOf: string }) {
  const { change: go } = useView();
  return <PastBar what={t.soa.title} asOf={asOf} onChange={(date) => void go({ asOf: date }, { replace: true })} />;
}

function Bars() {
  return Array.from({ length: 10 }, (_, at) => (
    <div key={at} className={css.skeleton} style={{ width: `${50 + ((at * 13) % 40)}%` }} aria-hidden="true" />
  ));
}

type Asked = 'submit' | 'approve' | 'decline' | 'verify' | 'versions';

type SheetProps = { document: Document; versions: Document[]; asOf?: string };

/** One version of one framework's statement, as it is or as it was at the end of a day. */
function Sheet({ document: listed, versions, asOf }: SheetProps) {
  const { view, change: go } = useView();
  const { can, memberId } = useMe();
  const isPhone = useMediaQuery('(max-width: 640px)', matchMedia('(max-width: 640px)').matches);
  const fetched = useRows(listed.id, asOf);
  const document = fetched.data?.document ?? listed;
  const answers = useAnswers(listed.id, fetched.data?.rows ?? []);
  const fill = useFill(listed.id);
  const [selected, setSelected] = useState(new Set<string>());
  const [asked, setAsked] = useState<Asked>();
  const [leavingOut, setLeavingOut] = useState<string[]>();
  const [target, setTarget] = useState<{ id: string }>();
  const [isReopened, setReopened] = useState(false);

  const mayUpdate = can('soa:update') && document.isLatest && !asOf;
  const isSettled = ['needs_review', 'approved'].includes(document.status);
  const mayChange = mayUpdate && (!isSettled || isReopened);
  const mayDecide = !asOf && can('soa:approve') && document.status === 'needs_review' && document.approverId === memberId;
  const { rows } = answers;
  const facts = counts(rows);
  const mayFill = mayChange && facts.answered < facts.all;
  const shown = view.gaps ? rows.filter(hasGap) : rows;
  const opened = rows.find(({ question }) => question.id === view.open);
  const close = () => setAsked(undefined);

  // An approval that was taken back by a change is settled anew later.
  useEffect(() => {
    if (!isSettled) setReopened(false);
  }, [isSettled]);

  const open = (id: string) => void go({ open: id }, { replace: view.open !== undefined });
  const jump = (row: Row | undefined) => {
    if (!row) return;
    setTarget({ id: row.question.id });
    if (isPhone) globalThis.document.getElementById(`row-${row.question.id}`)?.scrollIntoView({ block: 'center' });
  };
  const say = (row: Row, isApplicable: boolean) => {
    const { id } = row.question;
    if (isApplicable || row.answer?.isApplicable === false) void answers.save(id, { isApplicable });
    else setLeavingOut([id]);
  };
  const step = (by: 1 | -1) => {
    const next = shown[shown.findIndex(({ question }) => question.id === view.open) + by];
    if (next) open(next.question.id);
  };
  function submit() {
    const open = rows.filter(isUnanswered);
    if (open.length === 0) return setAsked('submit');
    jump(open[0]);
    toast(t.soa.submit.first(open.length));
  }
  async function next() {
    try {
      const { data } = await api.POST('/v1/soa/create-document', {
        body: { ...own(), frameworkId: document.frameworkId },
      });
      await refetch('/v1/soa');
      if (data) toast(t.soa.next.done(data.data.version));
      void go({ version: undefined, open: undefined });
    } catch (error) {
      toast(words(error), { bad: true });
    }
  }

  const applicable = t.soa.applicable(facts.applicable, facts.all);
  const complete = t.soa.complete(facts.complete, facts.all);
  const leavingNames =
    leavingOut?.length === 1 ? rows.find(({ question }) => question.id === leavingOut[0])?.question : undefined;

  return (
    <div className={css.page} data-past={asOf ? true : undefined}>
      <div className={css.main}>
        {asOf && <Past asOf={asOf} />}
        <PageHeader
          title={t.soa.title}
          state={(!asOf || fetched.data) && <DocumentPill document={document} loud />}
          facts={[
            <FrameworkSwitch key="framework" id={document.frameworkId} />,
            ...(fetched.data
              ? [
                  <span key="applicable">
                    <b>{applicable.count}</b> {applicable.word}
                  </span>,
                  <span key="complete">
                    <b>{complete.count}</b> {complete.word}
                  </span>,
                  <span key="gaps" className={facts.gaps > 0 ? css.warn : undefined} aria-live="polite">
                    {facts.gaps > 0 ? t.soa.gapsLeft(facts.gaps) : t.soa.noGaps}
                  </span>,
                ]
              : []),
          ]}
          actions={
            !asOf && (
              <>
                <ExportMenu path={`/v1/soa/documents/${document.id}/export`} formats={{ pdf: 'PDF', ...TABLES }}>
                  <Menu.Divider />
                  <Menu.Item leftSection={<IconFileCertificate size={15} stroke={1.6} />} onClick={() => setAsked('verify')}>
                    {t.soa.verify.button}
                  </Menu.Item>
                  <Menu.Item hiddenFrom={opened ? undefined : 'xs'} onClick={() => setAsked('versions')}>
                    {t.soa.versions.button}
                  </Menu.Item>
                  {mayFill && (
                    <Menu.Item hiddenFrom={opened ? undefined : 'xs'} onClick={() => void fill.start()}>
                      {t.soa.fill.button}
                    </Menu.Item>
                  )}
                </ExportMenu>
                {!opened && (
                  <Button
                    variant="default"
                    leftSection={<IconHistory size={16} stroke={1.6} />}
                    onClick={() => setAsked('versions')}
                    visibleFrom="xs"
                  >
                    {t.soa.versions.button}
                  </Button>
                )}
                {mayFill && !opened && <FillButton fill={fill} />}
                {mayDecide && (
                  <Button variant="default" onClick={() => setAsked('decline')}>
                    {t.soa.decline.button}
                  </Button>
                )}
                {mayDecide ? (
                  <Button data-primary disabled={!fetched.data} onClick={() => setAsked('approve')}>
                    {t.soa.approve.button}
                  </Button>
                ) : mayUpdate && document.status === 'approved' ? (
                  <Button data-primary leftSection={<IconPlus size={16} />} onClick={() => void next()}>
                    {t.soa.next.button}
                  </Button>
                ) : mayUpdate && document.status !== 'needs_review' ? (
                  <Button data-primary disabled={!fetched.data} onClick={submit}>
                    {t.soa.submit.button}
                  </Button>
                ) : null}
              </>
            )
          }
        >
          {fetched.data && (
            <div className={css.strip}>
              <Progress themes={themes(rows)} />
              <Switch
                label={t.soa.gapsOnly}
                wrapperProps={{ 'data-screen': true }}
                checked={view.gaps !== undefined}
                onChange={(event) => void go({ gaps: event.currentTarget.checked ? 'yes' : undefined }, { replace: true })}
              />
              <PastButton view={view} go={go} />
            </div>
          )}
        </PageHeader>
        <Notices
          document={document}
          latest={versions[0]}
          proposed={facts.proposed}
          mayUpdate={mayUpdate}
          mayChange={mayChange}
          fill={fill}
          answers={answers}
          onReopen={() => setReopened(true)}
          onFirst={() => jump(rows.find(({ answer }) => answer?.state === 'proposed'))}
          onLatest={() => void go({ version: undefined })}
        />
        {fetched.error && <SectionError error={fetched.error} onRetry={() => void fetched.refetch()} />}
        {fetched.isPending && <Bars />}
        {view.compare && !asOf ? (
          <Comparison before={view.compare} after={document.id} onLeave={() => void go({ compare: undefined })} />
        ) : (
          fetched.data &&
          (shown.length === 0 ? (
            <p className={css.none}>{t.soa.allRight}</p>
          ) : isPhone ? (
            <Phone rows={shown} answers={answers} mayChange={mayChange} onOpen={open} onSay={say} />
          ) : (
            <Grid
              rows={shown}
              answers={answers}
              mayChange={mayChange}
              selected={selected}
              onSelect={setSelected}
              open={view.open}
              onOpen={open}
              target={target}
              foot={
                <div className={css.foot}>
                  {selected.size > 0 && (
                    <Bulk
                      ids={[...selected]}
                      rows={rows}
                      answers={answers}
                      onLeaveOut={() => setLeavingOut([...selected])}
                      onDone={() => setSelected(new Set())}
                    />
                  )}
                  {mayChange && <Keys hasProposals={facts.proposed > 0} />}
                </div>
              }
            />
          ))
        )}
      </div>
      {opened && (asOf || !view.compare) && (
        <Details
          row={opened}
          answers={answers}
          mayChange={mayChange}
          onClose={() => void go({ open: undefined })}
          onStep={step}
          onSay={say}
        />
      )}
      {asked === 'submit' && (
        <Submit document={document} gaps={facts.gaps} onGap={() => jump(rows.find(hasGap))} onClose={close} />
      )}
      {asked === 'approve' && <Approve document={document} gaps={facts.gaps} onClose={close} />}
      {asked === 'decline' && <Decline document={document} onClose={close} />}
      {asked === 'verify' && <Verify documentId={document.id} onClose={close} />}
      {asked === 'versions' && (
        <Versions
          documents={versions}
          shown={document}
          onShow={(version) => {
            close();
            void go({ version, compare: undefined, open: undefined });
          }}
          onCompare={(compare) => {
            close();
            void go({ compare, open: undefined });
          }}
          onClose={close}
        />
      )}
      {leavingOut && (
        <WhyNot
          title={leavingNames ? t.soa.whyTitle(`${leavingNames.code} ${leavingNames.title}`) : t.soa.whyMany(leavingOut.length)}
          onClose={() => setLeavingOut(undefined)}
          onSay={(justification) => {
            for (const id of leavingOut) void answers.save(id, { isApplicable: false, justification });
            setSelected(new Set());
          }}
        />
      )}
    </div>
  );
}

/** What a reader has to know of this version before they read on, with what they can do about it. */
function Notices({
  document,
  latest,
  proposed,
  mayUpdate,
  mayChange,
  fill,
  answers,
  onReopen,
  onFirst,
  onLatest,
}: {
  document: Document;
  latest?: Document;
  proposed: number;
  mayUpdate: boolean;
  mayChange: boolean;
  fill: ReturnType<typeof useFill>;
  answers: Answers;
  onReopen: () => void;
  onFirst: () => void;
  onLatest: () => void;
}) {
  const people = usePeople();
  const { readOnly } = t.soa;
  const who = people.name(document.approverId) ?? readOnly.somebody;
  const [busy, setBusy] = useState(false);
  async function confirmAll() {
    setBusy(true);
    try {
      toast(t.soa.confirmed(await answers.confirm()));
    } catch (error) {
      toast(words(error), { bad: true });
    } finally {
      setBusy(false);
    }
  }
  const reopen = mayUpdate && !mayChange && (
    <Button size="xs" variant="default" onClick={onReopen}>
      {readOnly.edit}
    </Button>
  );
  const state: Partial<Record<Document['status'], ReactNode>> = {
    needs_review: (
      <>
        <p>{readOnly.needs_review(who)}</p>
        {reopen}
      </>
    ),
    approved: (
      <>
        <p>{readOnly.approved(document.approvedAt ? moment(document.approvedAt) : '', who)}</p>
        {reopen}
      </>
    ),
    declined: (
      <p>
        <b>{readOnly.declined(who)}</b> {document.declineReason}
      </p>
    ),
  };
  const told = !document.isLatest ? (
    <>
      <p>{readOnly.superseded(document.version)}</p>
      {latest && (
        <Button size="xs" variant="default" onClick={onLatest}>
          {readOnly.latest}
        </Button>
      )}
    </>
  ) : (
    state[document.status]
  );
  return (
    <>
      {told && (
        <div className={css.notice} data-tone={document.status === 'declined' ? 'bad' : undefined}>
          {told}
        </div>
      )}
      {fill.running && (
        <div className={css.notice}>
          <Filling fill={fill} />
        </div>
      )}
      {proposed > 0 && mayChange && !fill.running && (
        <div className={css.notice}>
          <p>{t.soa.proposals(proposed)}</p>
          <Button size="xs" variant="subtle" onClick={onFirst}>
            {t.soa.firstProposal}
          </Button>
          <Button size="xs" variant="default" loading={busy} onClick={() => void confirmAll()}>
            {t.soa.confirmAll(proposed)}
          </Button>
        </div>
      )}
    </>
  );
}

/** The framework's name; a click offers the others, with how far their statements are. */
function FrameworkSwitch({ id }: { id: string }) {
  const { view, change: go } = useView();
  const { can } = useMe();
  const frameworks = useFrameworks().data?.data ?? [];
  const documents = useDocuments().data?.data ?? [];
  const name = frameworks.find((one) => one.id === id)?.name ?? '';
  async function choose(frameworkId: string) {
    try {
      if (!documents.some((one) => one.frameworkId === frameworkId)) {
        await api.POST('/v1/soa/ensure-setup', { body: { ...own(), frameworkId } });
        await refetch('/v1/soa');
      }
      const alias = frameworks.find((one) => one.id === frameworkId)?.alias;
      void go({ framework: alias, version: undefined, open: undefined, compare: undefined });
    } catch (error) {
      toast(words(error), { bad: true });
    }
  }
  return (
    <Menu position="bottom-start" width={300}>
      <Menu.Target>
        <button type="button" className={`plain ${css.switch}`} aria-label={t.soa.framework(name)}>
          {name}
          <IconChevronDown size={14} aria-hidden="true" />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {frameworks.map((framework) => {
          const document = documents.find((one) => one.frameworkId === framework.id && one.isLatest);
          if (!document && (view.asOf || !can('soa:update'))) return null;
          return (
            <Menu.Item
              key={framework.id}
              onClick={() => void choose(framework.id)}
              rightSection={
                document ? <DocumentPill document={document} /> : <IconPlus size={14} aria-label={t.soa.start.begin('')} />
              }
            >
              {framework.name}
            </Menu.Item>
          );
        })}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Says the same of every selected row. */
function Bulk({
  ids,
  rows,
  answers,
  onLeaveOut,
  onDone,
}: {
  ids: string[];
  rows: Row[];
  answers: Answers;
  onLeaveOut: () => void;
  onDone: () => void;
}) {
  const people = usePeople();
  const { bulk } = t.soa;
  const each = (patch: Patch) => {
    for (const id of ids) void answers.save(id, patch);
    onDone();
  };
  const waiting = rows.filter(({ question, answer }) => ids.includes(question.id) && answer?.state === 'proposed');
  return (
    <div className={css.bulk} role="toolbar" aria-label={t.table.toolbar}>
      <b className="num">{t.table.selected(ids.length)}</b>
      <Button size="xs" variant="subtle" onClick={() => each({ isApplicable: true })}>
        {bulk.apply}
      </Button>
      <Button size="xs" variant="subtle" onClick={onLeaveOut}>
        {bulk.leave}
      </Button>
      {waiting.length > 0 && (
        <Button
          size="xs"
          variant="subtle"
          onClick={() =>
            void answers
              .confirm(waiting.map(({ question }) => question.id))
              .then((count) => {
                toast(t.soa.confirmed(count));
                onDone();
              })
              .catch((error) => toast(words(error), { bad: true }))
          }
        >
          {bulk.confirm}
        </Button>
      )}
      <Select
        size="xs"
        w={140}
        aria-label={bulk.status}
        placeholder={bulk.status}
        value={null}
        data={Object.entries(t.soa.implementation).map(([value, label]) => ({ value, label }))}
        onChange={(next) => next && each({ implementationStatus: next as Patch['implementationStatus'] })}
      />
      <Select
        size="xs"
        w={150}
        aria-label={bulk.owner}
        placeholder={bulk.owner}
        leftSection={<IconUser size={14} stroke={1.6} />}
        searchable
        value={null}
        data={people.active.map(({ id, user }) => ({ value: id, label: user.name }))}
        onChange={(ownerId) => ownerId && each({ ownerId })}
      />
      <ActionIcon aria-label={t.table.clear} onClick={onDone}>
        <IconX size={16} />
      </ActionIcon>
    </div>
  );
}

/** Nobody has begun one: what it is for, and a framework to begin with. */
function Start({ wanted }: { wanted?: string }) {
  const { can } = useMe();
  const { change: go } = useView();
  const frameworks = useFrameworks().data?.data ?? [];
  const rank = (alias: string) => (alias === wanted ? 0 : alias === ASKED_MOST ? 1 : 2);
  const offered = frameworks.toSorted((one, other) => rank(one.alias) - rank(other.alias)).slice(0, 3);
  const { start } = t.soa;
  async function begin(frameworkId: string, alias: string) {
    try {
      await api.POST('/v1/soa/ensure-setup', { body: { ...own(), frameworkId } });
      await refetch('/v1/soa');
      void go({ framework: alias });
    } catch (error) {
      toast(words(error), { bad: true });
    }
  }
  return (
    <>
      <PageHeader title={t.soa.title} facts={can('soa:update') ? undefined : [start.wait]} />
      <EmptyState
        title={start.title}
        lead={start.lead}
        ways={
          can('soa:update')
            ? offered.map(({ id, alias, name, totalRequirements }) => ({
                icon: <IconPlus size={18} stroke={1.6} />,
                label: start.begin(name),
                hint: start.beginHint(totalRequirements),
                onPick: () => void begin(id, alias),
              }))
            : []
        }
        specimen={
          <Specimen caption={start.specimen} title={start.specimenTitle} text={start.specimenText} points={start.points} />
        }
      />
    </>
  );
}
