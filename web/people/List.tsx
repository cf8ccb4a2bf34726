import { Button, Menu, Modal, SegmentedControl } from '@mantine/core';
import { IconMailPlus, IconUserOff, IconUserShield } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useList, useTotal } from '../api/lists';
import { type Member as Row, usePeople } from '../api/people';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { useRecord } from '../api/records';
import { useMe } from '../api/session';
import { EmptyState } from '../parts/EmptyState';
import { SectionError } from '../parts/ErrorPage';
import type { FilterField } from '../parts/FilterBar';
import { day, moment } from '../parts/format';
import type { Group } from '../parts/list/Arrange';
import { ListPage } from '../parts/list/ListPage';
import type { Column, PhoneLine } from '../parts/list/Table';
import { PageHeader } from '../parts/PageHeader';
import { Avatar } from '../parts/Person';
import { roleChoices, roleWords } from '../parts/roles';
import { SearchInput } from '../parts/SearchInput';
import { Specimen } from '../parts/Specimen';
import { StatusPill } from '../parts/StatusPill';
import { useView } from '../parts/search';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { Deactivation } from './Deactivation';
import { Invite } from './Invite';
import { Entry, Member } from './Member';
import { deactivate, isWithoutFactor, queryOf, stateOf, states, update, values } from './members';
import css from './people.module.css';
import { Roles } from './Roles';

/** Everybody of the organization; whoever may not see them sees themselves. */
export function People() {
  const { can } = useMe();
  return can('member:read') ? <Everybody /> : <Own />;
}

function Own() {
  const { memberId } = useMe();
  const { data, error, refetch: again } = useRecord('/v1/people', memberId);
  return (
    <>
      <PageHeader title={t.nav.people} />
      <section className={css.own}>
        <p className="t2">{t.people.own}</p>
        {error && <SectionError error={error} onRetry={() => void again()} />}
        {data && (
          <>
            <h2>{data.data.user.name}</h2>
            <Entry member={data.data} />
          </>
        )}
      </section>
    </>
  );
}

function Everybody() {
  const { view, change } = useView();
  const { can, memberId } = useMe();
  const people = usePeople();
  const list = useList('/v1/people', queryOf(view));
  const active = useTotal('/v1/people', { isActive: true });
  const inactive = useTotal('/v1/people', { isActive: false });
  const mayInvite = can('member:create');
  const isAlone = active === 1 && inactive === 0;
  const openInvite = mayInvite ? () => void change({ new: 'yes' }) : undefined;
  const shown = useMemo(() => columns(memberId), [memberId]);

  return (
    <ListPage
      title={t.nav.people}
      facts={[
        ...(active === undefined ? [] : [<b key="active">{t.people.active(active)}</b>]),
        ...(inactive ? [<span key="inactive">{t.people.inactive(inactive)}</span>] : []),
      ]}
      actions={
        <>
          {can('identity:read') && (
            <Button
              component={Link}
              to="/people/access-review"
              variant="default"
              leftSection={<IconUserShield size={16} stroke={1.6} />}
            >
              {t.nav.accessReview}
            </Button>
          )}
          {mayInvite && (
            <Button data-primary leftSection={<IconMailPlus size={16} stroke={1.6} />} onClick={openInvite}>
              {t.people.invite}
            </Button>
          )}
        </>
      }
      list={list}
      all={view.isActive === 'false' ? inactive : active}
      filters={filters(people.all)}
      tools={
        <>
          <SearchInput value={view.q} onChange={(q) => void change({ q }, { replace: true })} width={180} />
          {/* The list has either those who are active or those who are not. */}
          <SegmentedControl
            aria-label={t.people.fields.state}
            value={view.isActive === 'false' ? 'false' : 'true'}
            onChange={(next) => void change({ isActive: next === 'false' ? next : undefined, open: undefined })}
            data={values(t.people.isActive)}
          />
        </>
      }
      columns={shown}
      name={(row) => row.user.name}
      sort={{ key: 'name', dir: 'asc' }}
      groups={groups()}
      views="people"
      bulk={can('member:update') ? (ids, onDone) => <Bulk ids={ids} onDone={onDone} /> : undefined}
      phone={phone}
      drawer={({ id, ...drawer }) => <Member key={id} id={id} {...drawer} />}
      below={isAlone && mayInvite && <Empty onInvite={() => openInvite?.()} />}
      onNew={openInvite}
    >
      {view.new && mayInvite && (
        <Invite
          onClose={(invited) =>
            void change({ new: undefined, ...(invited && { isActive: 'false', open: undefined }) }, { replace: true })
          }
        />
      )}
    </ListPage>
  );
}

function filters(people: Row[]): FilterField[] {
  const { fields } = t.people;
  return [
    { key: 'role', isMany: true, label: fields.role, values: roleChoices(people) },
    { key: 'department', isMany: true, label: fields.department, values: values(t.departments) },
    { key: 'hasSecondFactor', label: fields.hasSecondFactor, values: values(t.people.factor) },
  ];
}

function columns(me: string | undefined): Column<Row>[] {
  const { columns: header } = t.people;
  return [
    {
      key: 'name',
      header: header.name,
      sort: 'name',
      opens: true,
      render: (row) => (
        <span className={css.name}>
          <Avatar name={row.user.name} size={24} />
          <span className="clip">{row.user.name}</span>
          {row.id === me && <span className="t3">({t.people.you})</span>}
          {isWithoutFactor(row) && <NoFactor />}
          {row.isExempt && <Exempt />}
        </span>
      ),
    },
    {
      key: 'email',
      priority: 3,
      header: header.email,
      width: 220,
      sort: 'email',
      render: ({ user }) => <span className="t2">{user.email}</span>,
    },
    { key: 'role', priority: 1, header: header.role, width: 140, sort: 'role', render: ({ role }) => roleWords(role) },
    {
      key: 'department',
      priority: 4,
      header: header.department,
      width: 124,
      sort: 'department',
      render: ({ department }) => department !== 'none' && <span className="t2">{t.departments[department]}</span>,
    },
    {
      key: 'state',
      priority: 2,
      header: header.state,
      width: 118,
      sort: 'status',
      render: (row) => <StatusPill {...states()[stateOf(row)]} />,
    },
    {
      key: 'lastLogin',
      priority: 5,
      header: header.lastLogin,
      width: 128,
      sort: 'lastLogin',
      isHighFirst: true,
      render: ({ user }) =>
        user.lastLogin ? <span className="t2">{moment(user.lastLogin)}</span> : <span className="t3">{t.people.never}</span>,
    },
    {
      key: 'createdAt',
      priority: 6,
      header: header.createdAt,
      width: 104,
      sort: 'createdAt',
      align: 'right',
      render: ({ createdAt }) => <span className="t2">{day(new Date(createdAt))}</span>,
    },
  ];
}

/** What rows can be grouped by. */
function groups(): Group<Row>[] {
  const { columns: words } = t.people;
  return [
    { key: 'role', label: words.role, sort: 'role', of: ({ role }) => ({ key: role, label: roleWords(role) }) },
    {
      key: 'department',
      label: words.department,
      sort: 'department',
      of: ({ department }) => ({ key: department, label: t.departments[department] }),
    },
    {
      key: 'status',
      label: words.state,
      sort: 'status',
      of: (row) => ({ key: stateOf(row), label: states()[stateOf(row)].label }),
    },
  ];
}

const phone = (row: Row): PhoneLine => ({
  mark: <Avatar name={row.user.name} size={32} />,
  title: row.user.name,
  facts: (
    <>
      <span className="clip">
        {roleWords(row.role)} · {row.user.email}
      </span>
      <StatusPill {...states()[stateOf(row)]} />
      {isWithoutFactor(row) && <NoFactor />}
      {row.isExempt && <Exempt />}
    </>
  ),
});

const NoFactor = () => <span className={css.badge}>{t.people.noFactor}</span>;
const Exempt = () => <span className={css.badge}>{t.people.isExempt}</span>;

/** Changes everybody who is selected; tells how many could not be changed, and why. */
function Bulk({ ids, onDone }: { ids: string[]; onDone: () => void }) {
  const { can, memberId } = useMe();
  const [roles, setRoles] = useState<string>();
  const [isLeaving, setLeaving] = useState(false);
  const others = ids.filter((id) => id !== memberId);
  const { bulk } = t.people;

  async function each(who: string[], act: (id: string) => Promise<unknown>) {
    const ended = await Promise.allSettled(who.map(act));
    const failed = ended.filter((one) => one.status === 'rejected');
    await refetch('/v1/people');
    onDone();
    if (failed[0]) toast(bulk.failed(failed.length, who.length, words(failed[0].reason)), { bad: true });
    else toast(bulk.done(who.length));
  }

  return (
    <>
      <Button size="xs" variant="subtle" onClick={() => setRoles('employee')}>
        {bulk.roles}
      </Button>
      <Menu>
        <Menu.Target>
          <Button size="xs" variant="subtle">
            {bulk.department}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {Object.entries(t.departments).map(([key, label]) => (
            <Menu.Item key={key} onClick={() => void each(ids, (id) => update(id, { department: key as Row['department'] }))}>
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {can('member:delete') && (
        <Button
          size="xs"
          variant="subtle"
          leftSection={<IconUserOff size={14} stroke={1.6} />}
          onClick={() => (others.length === 0 ? toast(bulk.onlyYou, { bad: true }) : setLeaving(true))}
        >
          {bulk.deactivate}
        </Button>
      )}
      {isLeaving && (
        <Deactivation
          ids={others}
          title={bulk.deactivateAsk(others.length)}
          act={() => each(others, deactivate)}
          onClose={() => setLeaving(false)}
        />
      )}
      {roles !== undefined && (
        <Modal
          opened
          onClose={() => setRoles(undefined)}
          title={bulk.rolesTitle(ids.length)}
          centered
          closeButtonProps={{ 'aria-label': t.actions.close }}
        >
          <p className="t2">{bulk.rolesText}</p>
          <Roles
            label={t.people.fields.role}
            value={roles}
            onChange={setRoles}
            error={roles === '' ? t.people.noRole : undefined}
          />
          <div className={css.buttons}>
            <Button variant="default" onClick={() => setRoles(undefined)}>
              {t.actions.cancel}
            </Button>
            <Button
              disabled={roles === ''}
              onClick={() => {
                setRoles(undefined);
                void each(ids, (id) => update(id, { role: roles }));
              }}
            >
              {bulk.roles}
            </Button>
          </div>
        </Modal>
      )}
    </>
  );
}

/** Shown to whoever is here alone. */
function Empty({ onInvite }: { onInvite: () => void }) {
  const { empty } = t.people;
  return (
    <EmptyState
      title={empty.title}
      lead={empty.lead}
      ways={[
        {
          icon: <IconMailPlus size={18} stroke={1.6} />,
          label: t.people.invite,
          hint: empty.hint,
          keys: 'N',
          onPick: onInvite,
        },
      ]}
      specimen={
        <Specimen caption={empty.specimen} points={empty.points}>
          <p className={css.name}>
            <Avatar name="Grace Hopper" size={24} />
            <b>Grace Hopper</b>
            <span className="t3">
              {t.roles.employee} · {t.departments.it}
            </span>
          </p>
        </Specimen>
      }
    />
  );
}
