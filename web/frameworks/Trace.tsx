import { Checkbox } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { $api, type Schemas } from '../api/client';
import { usePeople } from '../api/people';
import { SectionError } from '../parts/ErrorPage';
import { day } from '../parts/format';
import { Glyph, type Shape, type Tone } from '../parts/glyphs';
import { Person } from '../parts/Person';
import { SearchInput } from '../parts/SearchInput';
import { StatusPill } from '../parts/StatusPill';
import type { Search } from '../routes';
import { t } from '../texts';
import css from './frameworks.module.css';
import { states } from './states';

type Traced = Schemas['TracedRequirement'];
type Control = Schemas['TracedControl'];
type Task = Schemas['TracedTask'];
type Policy = Schemas['TracedPolicy'];

const isGap = ({ status }: Traced) => status !== 'ready' && status !== 'not_applicable';

/** The words of a requirement and of all that meets it. */
const wordsOf = ({ code, title, controls }: Traced) =>
  [
    code,
    title,
    ...controls.flatMap(({ reference, name, policies, tasks }) => [
      reference,
      name,
      ...policies.map((policy) => policy.name),
      ...tasks.map((task) => task.title),
    ]),
  ]
    .join(' ')
    .toLowerCase();

/** From each requirement to its controls, to their policies and tasks, to the latest evidence. Gaps are named. */
export function Trace({ id, view, go }: { id: string; view: Search; go: (next: Search) => void }) {
  const { trace } = t.frameworks;
  const { data, error, isPending, refetch } = $api.useQuery('get', '/v1/frameworks/{id}/trace', { params: { path: { id } } });
  const looked = view.q?.toLowerCase() ?? '';
  const rows = (data?.requirements ?? []).filter(
    (one) => (!view.gaps || isGap(one)) && (!looked || wordsOf(one).includes(looked)),
  );
  if (error) return <SectionError error={error} onRetry={() => void refetch()} />;
  return (
    <div aria-busy={isPending}>
      <div className={css.traceBar}>
        <Checkbox
          label={trace.onlyGaps(data?.gaps ?? 0)}
          checked={view.gaps !== undefined}
          onChange={(event) => go({ gaps: event.currentTarget.checked ? 'yes' : undefined })}
        />
        <span className={css.spring} />
        <span className="t3" aria-live="polite">
          {data ? t.filters.count(rows.length, data.requirements.length) : ''}
        </span>
        <SearchInput label={t.frameworks.detail.search} value={view.q} onChange={(q) => go({ q })} width={170} />
      </div>
      <ol className={css.trace} aria-label={trace.title}>
        {rows.map((one) => (
          <Line key={one.requirementId} requirement={one} />
        ))}
      </ol>
      {data && rows.length === 0 && <p className={css.none}>{view.gaps && !looked ? trace.noGaps : t.frameworks.nothing}</p>}
    </div>
  );
}

function Line({ requirement }: { requirement: Traced }) {
  const { trace } = t.frameworks;
  const { code, title, status, missing, controls } = requirement;
  return (
    <li className={css.traced}>
      <div>
        <p className="mono t3">{code}</p>
        <h2>{title}</h2>
        <p className={css.tracedState}>
          <StatusPill {...states()[status]} />
          {missing.length > 0 && <span className={css.lacks}>{trace.missing(missing.map((one) => trace.kinds[one]))}</span>}
        </p>
      </div>
      {controls.length > 0 ? (
        <ul>
          {controls.map((control) => (
            <Met key={control.id} control={control} />
          ))}
        </ul>
      ) : (
        <p className="t3">
          {status === 'not_applicable' ? t.frameworks.statusHelp.not_applicable : t.frameworks.detail.noControl}
        </p>
      )}
    </li>
  );
}

function Met({ control: { id, reference, name, assigneeId, policies, tasks, missing } }: { control: Control }) {
  const { trace } = t.frameworks;
  const people = usePeople();
  return (
    <li className={css.met}>
      <p className={css.metHead}>
        <Link to="/controls" search={{ open: id }} className="link">
          <span className="mono">{reference}</span> {name}
        </Link>
        <Person name={people.name(assigneeId)} short />
      </p>
      <ul>
        {policies.map((one) => (
          <PolicyLine key={one.id} policy={one} />
        ))}
        {tasks.map((one) => (
          <TaskLine key={one.id} task={one} />
        ))}
        {(['policy', 'task'] as const)
          .filter((kind) => missing.includes(kind) && (kind === 'policy' ? policies : tasks).length === 0)
          .map((kind) => (
            <li key={kind} className={css.lacks}>
              {trace.none[kind]}
            </li>
          ))}
      </ul>
    </li>
  );
}

function PolicyLine({ policy: { id, name, status, isPublished, dueDate } }: { policy: Policy }) {
  const { trace } = t.frameworks;
  return (
    <Item shape={isPublished ? 'check' : 'ring'} tone={isPublished ? 'ok' : 'mute'} to={`/policies/${id}`} title={name}>
      {isPublished ? (
        <span className="t3">{t.policies.status.published}</span>
      ) : (
        <span className={css.lacks}>
          {t.policies.status[status]}
          {dueDate && `, ${trace.due(day(dueDate))}`}
        </span>
      )}
    </Item>
  );
}

const EVIDENCE: Record<Task['evidenceStatus'], { shape: Shape; tone: Tone }> = {
  fresh: { shape: 'check', tone: 'ok' },
  stale: { shape: 'alert', tone: 'bad' },
  none: { shape: 'ring', tone: 'mute' },
};

function TaskLine({ task: { id, title, evidence, evidenceStatus, dueDate } }: { task: Task }) {
  const { trace } = t.frameworks;
  return (
    <Item {...EVIDENCE[evidenceStatus]} to={`/tasks/${id}`} title={title}>
      {evidence ? (
        <span className={evidenceStatus === 'stale' ? css.stale : 't3'}>
          {evidence.name}, {day(evidence.effectiveDate)}
          {evidenceStatus === 'stale' && `, ${trace.stale}`}
        </span>
      ) : (
        <span className={css.lacks}>
          {trace.noEvidence}
          {dueDate && `, ${trace.due(day(dueDate))}`}
        </span>
      )}
    </Item>
  );
}

type ItemProps = { shape: Shape; tone: Tone; to: string; title: string; children: ReactNode };

function Item({ shape, tone, to, title, children }: ItemProps) {
  return (
    <li className={css.tracedItem}>
      <Glyph shape={shape} tone={tone} />
      <Link to={to} className={css.tracedLink}>
        {title}
      </Link>
      {children}
    </li>
  );
}
