import { Button, Checkbox, Select } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, type Schemas } from '../api/client';
import { useList } from '../api/lists';
import { paths } from '../api/live';
import { type Member, usePeople } from '../api/people';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { Dialog } from '../parts/Dialog';
import { SectionError } from '../parts/ErrorPage';
import { Person } from '../parts/Person';
import { pageOf } from '../parts/places';
import { to } from '../parts/to';
import { toast } from '../parts/toast';
import { t } from '../texts';
import css from './people.module.css';

export type Released = Schemas['Released'];
type Kind = Released['entityType'];

/** The permissions to change records of each kind, in the order in which the kinds are listed. */
const PERMISSIONS: Record<Kind, string> = {
  risk: 'risk:update',
  vendor: 'vendor:update',
  task: 'task:update',
  policy: 'policy:update',
  control: 'control:update',
  context_entry: 'context:update',
};
const KINDS = Object.keys(PERMISSIONS) as Kind[];
/** The number of records that are shown at first. */
const FEW = 10;

/** True for a record that can be handed over: it has no owner, or one to whom it was handed over before. */
export const isMovable = ({ assigneeId, handedTo }: Pick<Released, 'assigneeId' | 'handedTo'>) =>
  assigneeId === null || assigneeId === handedTo;

/** The records that a member had when they left, with those who have them now. */
export function LeftBehind({ member }: { member: Member }) {
  const { can } = useMe();
  const people = usePeople();
  const list = useList('/v1/people/{id}/released', {}, { path: { id: member.id } });
  const [isAll, setAll] = useState(false);
  const [isGiving, setGiving] = useState(false);
  const texts = t.people.left;
  const { rows } = list;
  if (list.error) return <SectionError error={list.error} onRetry={() => void list.refetch()} />;
  if (rows.length === 0) return null;
  const shown = isAll ? rows : rows.slice(0, FEW);
  const movable = rows.filter((row) => isMovable(row) && can(PERMISSIONS[row.entityType]));
  /** Loads all records before something is done with them. */
  const withAll = (act: () => void) => void list.loadAll().then(act, (problem) => toast(words(problem), { bad: true }));
  return (
    <section className={css.left}>
      <h3>{texts.title}</h3>
      <p className="t2">{texts.lead}</p>
      <ul>
        {shown.map(({ entityType, entityId, reference, title, assigneeId }) => (
          <li key={entityId}>
            <span>
              <Link {...to(pageOf(entityType, entityId) ?? '/')} className="link">
                {title}
              </Link>{' '}
              <span className="mono t3">{reference}</span>
            </span>
            <Person name={assigneeId ? (people.name(assigneeId) ?? assigneeId) : undefined} />
          </li>
        ))}
      </ul>
      <div className={css.buttons}>
        {(shown.length < rows.length || list.hasNextPage) && (
          <Button size="xs" variant="subtle" loading={list.isFetchingNextPage} onClick={() => withAll(() => setAll(true))}>
            {texts.all}
          </Button>
        )}
        {movable.length > 0 && can('member:update') && (
          <Button size="xs" variant="default" onClick={() => withAll(() => setGiving(true))}>
            {texts.handOver}
          </Button>
        )}
      </div>
      {isGiving && <HandOver member={member} movable={movable} onClose={() => setGiving(false)} />}
    </section>
  );
}

type HandOverProps = { member: Member; movable: Released[]; onClose: () => void };

/** Asks who gets the records, and of which kinds. */
function HandOver({ member, movable, onClose }: HandOverProps) {
  const people = usePeople();
  const counts = KINDS.flatMap((kind) => {
    const count = movable.filter(({ entityType }) => entityType === kind).length;
    return count > 0 ? [{ kind, count }] : [];
  });
  const [toMemberId, setTo] = useState<string | null>(null);
  const [kinds, setKinds] = useState<Kind[]>(() => counts.map(({ kind }) => kind));
  const [errors, setErrors] = useState<Record<string, string>>({});
  const texts = t.people.left;

  async function go() {
    if (!toMemberId) return;
    const { data } = await api.POST('/v1/people/{id}/handover', {
      params: { path: { id: member.id } },
      body: { toMemberId, entityTypes: kinds },
    });
    await refetch('/v1/people', ...kinds.flatMap((kind) => paths[kind] ?? []));
    toast(texts.moved(data?.moved ?? 0, people.name(toMemberId) ?? ''));
  }

  return (
    <Dialog
      title={texts.ask(member.user.name)}
      verb={texts.handOver}
      isReady={toMemberId !== null && kinds.length > 0}
      fields={['toMemberId']}
      onErrors={setErrors}
      act={go}
      onClose={onClose}
    >
      <p className="t2">{texts.text(movable.length)}</p>
      <Select
        label={t.people.handOver}
        data={people.active.filter(({ id }) => id !== member.id).map(({ id, user }) => ({ value: id, label: user.name }))}
        value={toMemberId}
        error={errors.toMemberId}
        searchable
        openOnFocus={false}
        onChange={setTo}
        data-autofocus
      />
      {counts.length > 1 && (
        <Checkbox.Group label={texts.kinds} value={kinds} onChange={(next) => setKinds(next as Kind[])}>
          <div className={css.choices}>
            {counts.map(({ kind, count }) => (
              <Checkbox key={kind} value={kind} label={t.people.owned[kind](count)} />
            ))}
          </div>
        </Checkbox.Group>
      )}
    </Dialog>
  );
}
