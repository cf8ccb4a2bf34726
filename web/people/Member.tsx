import { Button } from '@mantine/core';
import {
  IconLifebuoy,
  IconLogout,
  IconMailForward,
  IconPencil,
  IconShieldOff,
  IconUserCheck,
  IconUserOff,
} from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/client';
import type { Member as Row } from '../api/people';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { useEdits, useRecord } from '../api/records';
import { useMe } from '../api/session';
import { useConfirm } from '../parts/confirm';
import { Drawer } from '../parts/Drawer';
import { SectionError } from '../parts/ErrorPage';
import { useExemption } from '../parts/exemption';
import { Field } from '../parts/Field';
import { day, moment } from '../parts/format';
import { told } from '../parts/History';
import { isOwner, roleWords } from '../parts/roles';
import { StatusPill } from '../parts/StatusPill';
import { Timeline } from '../parts/Timeline';
import { toast } from '../parts/toast';
import { Unsaved } from '../parts/Unsaved';
import { t } from '../texts';
import { Deactivation } from './Deactivation';
import { Identities } from './Identities';
import { LeftBehind } from './LeftBehind';
import { deactivate, invite, resetFactor, signOut, stateOf, states } from './members';
import css from './people.module.css';
import { Roles } from './Roles';

type Props = { id: string; onClose: () => void; onStep: (step: 1 | -1) => void };

/** One person: what they may do, where they belong, and what was changed about it. */
export function Member({ id, onClose, onStep }: Props) {
  const { data, error, refetch: again } = useRecord('/v1/people', id);
  const edits = useEdits('/v1/people', id);
  const { can } = useMe();
  const member = data?.data;
  if (error)
    return (
      <Drawer reference="" title={t.problems.missingTitle} name={t.nav.people} onClose={onClose}>
        <SectionError error={error} onRetry={() => void again()} />
      </Drawer>
    );
  if (!member)
    return (
      <Drawer reference="" title="" name={t.nav.people} onClose={onClose}>
        {null}
      </Drawer>
    );
  const save = can('member:update') ? edits.field : undefined;
  return (
    <Drawer
      reference={t.people.states[stateOf(member)]}
      title={member.user.name || member.user.email}
      name={member.user.name || member.user.email}
      onClose={onClose}
      onStep={onStep}
    >
      <Unsaved edits={edits} labels={t.people.fields} read={reading} />
      <Entry member={member} save={save} />
      {can('identity:read') && <Identities member={member} />}
      {stateOf(member) === 'deactivated' && <LeftBehind member={member} />}
      <Acts member={member} />
      {can('audit-log:read') && <Past id={id} name={member.user.name} />}
    </Drawer>
  );
}

/** The value of a field as it reads. */
function reading(field: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return t.edits.none;
  if (field === 'role') return roleWords(String(value));
  if (field === 'department') return (t.departments as Record<string, string>)[String(value)] ?? String(value);
  return typeof value === 'boolean' ? (value ? t.filters.yes : t.filters.no) : String(value);
}

type Save = (field: string) => (next: unknown) => Promise<unknown>;

/** The fields of a person; they are only read without `save`. */
export function Entry({ member, save }: { member: Row; save?: Save }) {
  const { fields } = t.people;
  const departments = Object.entries(t.departments).map(([value, label]) => ({ value, label }));
  return (
    <dl className={css.fields}>
      <Field name="email" label={fields.email} kind="text" value={member.user.email}>
        {member.user.email}
      </Field>
      <RolesField member={member} onSave={save?.('role')} />
      <Field
        name="department"
        label={fields.department}
        kind="choice"
        value={member.department}
        choices={departments}
        onSave={save?.('department')}
      >
        {t.departments[member.department]}
      </Field>
      <Field name="state" label={fields.state} kind="text" value={null}>
        <StatusPill {...states()[stateOf(member)]} />
      </Field>
      <Field name="hasSecondFactor" label={fields.hasSecondFactor} kind="text" value={null}>
        {member.hasSecondFactor ? t.people.factor.true : t.people.factor.false}
      </Field>
      {member.isExempt && (
        <Field name="isExempt" label={fields.isExempt} kind="text" value={null}>
          {t.filters.yes}
        </Field>
      )}
      <Field name="lastLogin" label={fields.lastLogin} kind="text" value={null}>
        {member.user.lastLogin ? moment(member.user.lastLogin) : t.people.never}
      </Field>
      <Field name="createdAt" label={fields.createdAt} kind="text" value={null}>
        {day(new Date(member.createdAt))}
      </Field>
    </dl>
  );
}

/** Roles turn into their boxes in place. What owners are is changed by owners only. */
function RolesField({ member, onSave }: { member: Row; onSave?: (next: unknown) => Promise<unknown> }) {
  const { can } = useMe();
  const [draft, setDraft] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const mayChange = onSave && (!isOwner(member) || can('owner:manage'));
  const label = t.people.fields.role;

  async function save() {
    if (draft === '') return setProblem(t.people.noRole);
    setBusy(true);
    try {
      if (draft !== member.role) await onSave?.(draft);
      setDraft(undefined);
      setProblem(undefined);
    } catch (error) {
      setProblem(words(error));
    } finally {
      setBusy(false);
    }
  }

  if (draft !== undefined)
    return (
      <div className={css.editor}>
        <dt className="hidden-visually">{label}</dt>
        <dd>
          <Roles label={label} value={draft} onChange={setDraft} error={problem} />
          <div className={css.buttons}>
            <Button size="xs" variant="default" onClick={() => setDraft(undefined)}>
              {t.actions.cancel}
            </Button>
            <Button size="xs" loading={busy} onClick={() => void save()}>
              {t.actions.save}
            </Button>
          </div>
        </dd>
      </div>
    );
  return (
    <Field name="role" label={label} kind="text" value={member.role}>
      {roleWords(member.role)}
      {mayChange && (
        <Button
          size="xs"
          variant="subtle"
          leftSection={<IconPencil size={14} stroke={1.6} />}
          aria-label={t.edits.change(label, roleWords(member.role))}
          onClick={() => setDraft(member.role)}
        >
          {t.actions.edit}
        </Button>
      )}
    </Field>
  );
}

/** The acts that a member can be subject to, by their state. */
function Acts({ member }: { member: Row }) {
  const { can, memberId } = useMe();
  const { ask, dialog } = useConfirm();
  const [isLeaving, setLeaving] = useState(false);
  const state = stateOf(member);
  const { name, email } = member.user;
  const isOther = member.id !== memberId;
  const mayTouch = !isOwner(member) || can('owner:manage');
  const ended = (said: string) => refetch('/v1/people').then(() => toast(said));
  const back = useEdits('/v1/people', member.id);

  async function resend() {
    try {
      const invited = await invite({ email, role: member.role, department: member.department });
      const link = invited?.invitationLink;
      if (link) await navigator.clipboard.writeText(link).catch(() => undefined);
      await ended(link ? t.people.resentLink(email) : t.people.resent(email));
    } catch (problem) {
      toast(words(problem), { bad: true });
    }
  }
  const bringBack = () =>
    back
      .save({ isActive: true }, { undo: false })
      .then(() => ended(t.people.broughtBack(name)))
      .catch((problem) => toast(words(problem), { bad: true }));

  if (!mayTouch) return <p className={`t3 ${css.note}`}>{t.people.ownersOnly}</p>;
  return (
    <div className={css.acts}>
      {state === 'active' && can('member:delete') && isOther && (
        <Button variant="default" leftSection={<IconUserOff size={16} stroke={1.6} />} onClick={() => setLeaving(true)}>
          {t.people.deactivate}
        </Button>
      )}
      {isLeaving && (
        <Deactivation
          ids={[member.id]}
          title={t.people.deactivateAsk(name)}
          act={() => deactivate(member.id).then(() => ended(t.people.deactivated(name)))}
          onClose={() => setLeaving(false)}
        />
      )}
      {state === 'active' && can('member:update') && isOther && (
        <Button
          variant="default"
          leftSection={<IconLogout size={16} stroke={1.6} />}
          onClick={() =>
            ask({
              title: t.people.signOutAsk(name),
              text: t.people.signOutText,
              verb: t.people.signOut,
              act: () => signOut(member.id).then(() => ended(t.people.signedOut(name))),
            })
          }
        >
          {t.people.signOut}
        </Button>
      )}
      {state === 'active' && can('member:update') && isOther && member.hasSecondFactor && (
        <Button
          variant="default"
          leftSection={<IconShieldOff size={16} stroke={1.6} />}
          onClick={() =>
            ask({
              title: t.people.resetFactorAsk(name),
              text: t.people.resetFactorText,
              verb: t.people.resetFactor,
              withIdentity: true,
              act: () => resetFactor(member.id).then(() => ended(t.people.factorReset(name))),
            })
          }
        >
          {t.people.resetFactor}
        </Button>
      )}
      {state === 'active' && isOwner(member) && can('owner:manage') && (member.isExempt || member.hasSecondFactor) && (
        <Exemption member={member} />
      )}
      {state === 'deactivated' && can('member:update') && (
        <Button variant="default" leftSection={<IconUserCheck size={16} stroke={1.6} />} onClick={() => void bringBack()}>
          {t.people.bringBack}
        </Button>
      )}
      {state === 'invited' && can('member:create') && (
        <Button variant="default" leftSection={<IconMailForward size={16} stroke={1.6} />} onClick={() => void resend()}>
          {t.people.resend}
        </Button>
      )}
      {state === 'invited' && can('member:delete') && (
        <Button
          variant="subtle"
          onClick={() =>
            ask({
              title: t.people.withdrawAsk(email),
              text: t.people.withdrawText,
              verb: t.people.withdraw,
              act: () => deactivate(member.id).then(() => ended(t.people.withdrawn(email))),
            })
          }
        >
          {t.people.withdraw}
        </Button>
      )}
      {dialog}
    </div>
  );
}

/** Exempts an owner from single sign-on, or ends that. */
function Exemption({ member }: { member: Row }) {
  const { exempt, end, dialog } = useExemption();
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconLifebuoy size={16} stroke={1.6} />}
        onClick={() => (member.isExempt ? end(member) : exempt(member))}
      >
        {member.isExempt ? t.people.endExemption : t.people.exempt}
      </Button>
      {dialog}
    </>
  );
}

/** The entries of the audit log about a member. */
function Past({ id, name }: { id: string; name: string }) {
  const { role, department, isActive, deviceLabelId } = t.people.fields;
  const labels = { role, department, isActive, deviceLabelId };
  const past = useInfiniteQuery({
    queryKey: ['past', '/v1/audit-logs', '/v1/people', id],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam: cursor }) => {
      const query = { entityType: 'member', entityId: id, limit: 30, cursor };
      const { data } = await api.GET('/v1/audit-logs', { params: { query } });
      if (!data) throw new Error('no entries');
      return data;
    },
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });
  const entries = past.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <section className={css.past}>
      <h3>{t.record.history}</h3>
      {past.error && <SectionError error={past.error} onRetry={() => void past.refetch()} />}
      <Timeline
        entries={entries.map((entry) => {
          const line = told(entry, labels, reading);
          const verb = t.people.verbs[entry.action];
          if (!verb) return line;
          return { ...line, verb, changes: [], ...(entry.action === 'member.joined' && { actor: name, machine: false }) };
        })}
      />
      {past.hasNextPage && (
        <Button variant="subtle" onClick={() => void past.fetchNextPage()} loading={past.isFetchingNextPage}>
          {t.record.loadMore}
        </Button>
      )}
    </section>
  );
}
