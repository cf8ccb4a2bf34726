import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { usePeople } from '../api/people';
import { isFirst } from '../api/query';
import { useMe } from '../api/session';
import { SectionError } from '../parts/ErrorPage';
import { freshness } from '../parts/evidence';
import { day, daysUntil, longDay } from '../parts/format';
import { Glyph, type Shape, type Tone } from '../parts/glyphs';
import { PageHeader } from '../parts/PageHeader';
import { Person } from '../parts/Person';
import { to } from '../parts/to';
import { t } from '../texts';
import { Activity } from './Activity';
import { Auditor } from './Auditor';
import css from './Home.module.css';
import { useApprovals, useRequests, useTasks, useToSign } from './queries';
import { ReadinessChart } from './ReadinessChart';
import { RiskMaps } from './RiskMaps';
import { SetUpStrip, useSetUp } from './SetUpStrip';

type Item = {
  id: string;
  title: string;
  text: string;
  to: string;
  verb: string;
  owner?: string;
  when?: string;
  late?: boolean;
  shape: Shape;
  tone: Tone;
};
type Group = { label: string; items: Item[] };

/** How many of a group are shown; the rest is a page away. */
const SHOWN = 5;

type Failed = { failureReason: unknown; refetch: () => unknown };

type Task = NonNullable<ReturnType<typeof useTasks>['data']>[number];

const isStale = (task: Task) => task.evidenceStatus === 'stale';

/** For how many days a task is late: its evidence is stale, or its due date has passed. */
function daysLate(task: Task): number {
  const evidence = isStale(task) && task.lastEvidenceDate ? freshness(task.lastEvidenceDate, task.frequency) : undefined;
  if (evidence) return -evidence.left;
  return task.dueDate ? -daysUntil(task.dueDate) : 0;
}

const byUrgency = (one: Task, other: Task) => daysLate(other) - daysLate(one);

function urgency(task: Task): Pick<Item, 'when' | 'late'> {
  const days = daysLate(task);
  if (isStale(task)) return { when: t.time.stale(days), late: true };
  if (!task.dueDate) return { late: false };
  return days > 0 ? { when: t.time.late(days), late: true } : { when: t.time.in(-days), late: false };
}

/** What needs attention, most urgent first. */
function useAttention(): { groups: Group[]; isPending: boolean; isKnown: boolean; failed?: Failed } {
  const { can, memberId } = useMe();
  const people = usePeople();
  const isLead = can('risk:read');
  const tasks = useTasks(isLead ? {} : { assigneeId: memberId });
  const approvals = useApprovals();
  const toSign = useToSign();
  const requests = useRequests();
  const asked = [tasks, approvals, toSign, requests];
  const all = tasks.data ?? [];
  const task = (one: (typeof all)[number], shape: Shape, tone: Tone): Item => ({
    id: one.id,
    title: one.title,
    text: one.lastEvidenceDate ? `${one.reference} · ${t.home.last(day(one.lastEvidenceDate))}` : one.reference,
    to: `/tasks/${one.id}`,
    verb: t.home.open,
    owner: people.name(one.assigneeId),
    ...urgency(one),
    shape,
    tone,
  });
  const isOpen = (one: (typeof all)[number]) => one.status !== 'done';
  const isLate = (one: (typeof all)[number]) => isOpen(one) && one.dueDate !== null && daysUntil(one.dueDate) < 0;
  const isMine = (one: (typeof all)[number]) => one.assigneeId === memberId && isOpen(one) && !isLate(one) && !isStale(one);
  const groups: Group[] = [
    {
      label: t.home.stale,
      items: all
        .filter(isStale)
        .sort(byUrgency)
        .map((one) => task(one, 'alert', 'bad')),
    },
    {
      label: t.home.overdue,
      items: all
        .filter((one) => isLate(one) && !isStale(one))
        .sort(byUrgency)
        .map((one) => task(one, 'alert', 'bad')),
    },
    {
      label: t.home.approval,
      items: (approvals.data?.data ?? []).map((one) => ({
        id: one.id,
        title: one.name,
        text: one.reference,
        to: `/policies/${one.id}`,
        verb: t.home.review,
        owner: people.name(one.submittedById),
        when: t.home.since(day(one.updatedAt)),
        shape: 'half',
        tone: 'info',
      })),
    },
    {
      label: t.home.requests,
      items: (requests.data?.data ?? []).map((one) => ({
        id: one.id,
        title: one.name,
        text: one.company ? t.home.company(one.company) : one.email,
        to: '/trust-portal?tab=requests',
        verb: t.home.review,
        when: t.home.since(day(one.createdAt)),
        shape: 'half',
        tone: 'info',
      })),
    },
    {
      label: t.home.toSign,
      items: (toSign.data?.data ?? []).map((one) => ({
        id: one.id,
        title: one.name,
        text: t.home.unsignedText,
        to: `/policies/${one.id}`,
        verb: t.home.sign,
        shape: 'ring',
        tone: 'warn',
      })),
    },
    { label: t.home.mine, items: all.filter(isMine).map((one) => task(one, 'ring', 'mute')) },
  ];
  return {
    groups: groups.filter(({ items }) => items.length > 0),
    isPending: asked.some(isFirst),
    isKnown: asked.every(({ data, isEnabled }) => data !== undefined || !isEnabled),
    failed: asked.find(({ failureReason }) => failureReason),
  };
}

export function Home() {
  const { can } = useMe();
  const attention = useAttention();
  const isAuditor = can('audit-log:read') && can('risk:read') && !can('task:create');
  const { failed, isKnown } = attention;
  // What is stale or late is a finding to an auditor, and nothing to do.
  const own = [t.home.approval, t.home.toSign, t.home.mine] as string[];
  const groups = isAuditor ? attention.groups.filter(({ label }) => own.includes(label)) : attention.groups;
  const setUp = useSetUp();
  const isPending = attention.isPending || setUp.isPending;
  const isLead = can('risk:read');
  const tasks = useTasks(isLead ? {} : { assigneeId: useMe().memberId });
  const count = groups.filter(({ label }) => label !== t.home.mine || !isLead).reduce((sum, { items }) => sum + items.length, 0);
  const all = tasks.data ?? [];
  const fresh = all.filter((task) => task.evidenceStatus === 'fresh').length;
  return (
    <div className={css.page} aria-busy={isPending}>
      <PageHeader
        title={
          isPending || !isKnown ? t.nav.home : isAuditor ? t.home.audit : isLead ? t.home.attention(count) : t.home.work(count)
        }
        facts={[longDay(new Date()), ...(isLead && all.length > 0 ? [t.home.evidence(fresh, all.length)] : [])]}
        actions={
          can('task:create') && (
            <Button component={Link} {...to('/tasks?new=yes')} data-primary>
              {t.home.newTask}
            </Button>
          )
        }
      />
      {!isPending && setUp.steps.length > 0 && <SetUpStrip steps={setUp.steps} hide={setUp.hide} />}
      {isPending && <Bars />}
      {/* What comes below asks for its data meanwhile, and is not pushed down by what comes above. */}
      <div className={isLead ? css.columns : css.column} hidden={isPending}>
        <div className={css.left}>
          {isAuditor && (
            <Section title={t.home.toReview} hint={t.home.auditLead}>
              <Auditor />
            </Section>
          )}
          {(!isAuditor || groups.length > 0) && (
            <Section title={t.home.needs} link={<Link to="/tasks">{t.home.allTasks}</Link>}>
              {groups.map((group) => (
                <Attention key={group.label} group={group} />
              ))}
              {failed && <SectionError error={failed.failureReason} onRetry={() => void failed.refetch()} />}
              {isKnown && groups.length === 0 && <p className={css.calm}>{t.home.calm}</p>}
            </Section>
          )}
          {can('audit-log:read') && (
            <div className={css.activity}>
              <Section title={t.home.activity} link={<Link to="/audit">{t.home.log}</Link>}>
                <Activity />
              </Section>
            </div>
          )}
        </div>
        {isLead && (
          <div className={css.right}>
            {can('framework:read') && (
              <Section title={t.home.readiness} hint={t.home.readinessHint}>
                <ReadinessChart />
              </Section>
            )}
            <Section title={t.home.risk} hint={t.home.riskHint}>
              <RiskMaps />
            </Section>
          </div>
        )}
      </div>
    </div>
  );
}

function Section({ title, hint, link, children }: { title: string; hint?: string; link?: ReactNode; children: ReactNode }) {
  return (
    <section className={css.section}>
      <div className={css.head}>
        <h2>{title}</h2>
        <span className={css.hint}>{link ?? hint}</span>
      </div>
      {children}
    </section>
  );
}

function Attention({ group }: { group: Group }) {
  return (
    <div className={css.group}>
      <h3>
        {group.label} <span className="num">{group.items.length}</span>
      </h3>
      <ul>
        {group.items.slice(0, SHOWN).map((item) => (
          <li key={item.id} className={css.item}>
            <Glyph shape={item.shape} tone={item.tone} />
            <div className={css.words}>
              <Link {...to(item.to)} className={css.title}>
                {item.title}
              </Link>
              <small>{item.text}</small>
            </div>
            <span className={css.owner}>{item.owner && <Person name={item.owner} short />}</span>
            <span className={`num ${item.late ? css.late : css.when}`}>{item.when}</span>
            <Button component={Link} {...to(item.to)} size="xs" variant="default" aria-label={`${item.verb}: ${item.title}`}>
              {item.verb}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The layout that the list will have. */
function Bars() {
  return (
    <div className={css.bars} aria-hidden="true">
      {Array.from({ length: 5 }, (_, at) => (
        <div key={at} />
      ))}
    </div>
  );
}
