import { Button, Menu, Modal, SegmentedControl } from '@mantine/core';
import { IconMailPlus, IconUserOff } from '@tabler/icons-react';
import { useState } from 'react';
import { type Member as Row, usePeople } from '../api/people';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { useRecord } from '../api/records';
import { useMe } from '../api/session';
import { useConfirm } from '../parts/confirm';
import { EmptyState } from '../parts/EmptyState';
import { SectionError } from '../parts/ErrorPage';
import { FilterBar, type FilterField } from '../parts/FilterBar';
import { day, moment } from '../parts/format';
import { PageHeader } from '../parts/PageHeader';
import { Avatar } from '../parts/Person';
import { type Column, type PhoneLine, RegisterTable } from '../parts/RegisterTable';
import { SearchInput } from '../parts/SearchInput';
import { Specimen } from '../parts/Specimen';
import { StatusPill } from '../parts/StatusPill';
import { useView } from '../parts/search';
import { useShortcuts } from '../parts/shortcuts';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { Invite } from './Invite';
import { Entry, Member } from './Member';
import { deactivate, FILTERS, ROLES, rolesOf, roleWords, stateOf, states, update, useCount, useMembers } from './members';
import css from './people.module.css';
import { Roles } from './Roles';

/** Everybody of the organization; whoever may not see them sees themselves. */
export function People() {
  const { can } = useMe();
  return can('member:read') ? <Everybody /> : <Own />;
}

function Own() {
  const { memberId } = useMe();
  const { data, error, refetch: again } = useRecord<Row>('/v1/people', memberId);
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
  const list = useMembers(view);
  const active = useCount(true);
  const inactive = useCount(false);
  const [selected, setSelected] = useState(new Set<string>());
  const mayInvite = can('member:create');
  const isAlone = active === 1 && inactive === 0;
  const open = (row: Row) => void change({ open: row.id });
  const openInvite = () => void change({ new: 'yes' });
  useShortcuts({ n: mayInvite ? openInvite : undefined });

  const step = (by: 1 | -1) => {
    const next = list.rows[list.rows.findIndex((row) => row.id === view.open) + by];
    if (next) void change({ open: next.id }, { replace: true });
  };

  return (
    <div className={css.page}>
      <div className={css.main}>
        <PageHeader
          title={t.nav.people}
          facts={[
            ...(active === undefined ? [] : [<b key="active">{t.people.active(active)}</b>]),
            ...(inactive ? [<span key="inactive">{t.people.inactive(inactive)}</span>] : []),
          ]}
          actions={
            mayInvite && (
              <Button data-primary leftSection={<IconMailPlus size={16} stroke={1.6} />} onClick={openInvite}>
                {t.people.invite}
              </Button>
            )
          }
        />
        <div className={css.filters}>
          <Filters total={list.total} all={view.isActive === 'false' ? inactive : active} />
        </div>
        {list.error && <SectionError error={list.error} onRetry={() => void list.refetch()} />}
        <RegisterTable
          caption={t.nav.people}
          rows={list.rows}
          columns={columns(view.open !== undefined, memberId)}
          rowKey={(row) => row.id}
          rowName={(row) => row.user.name}
          href={(row) => `/people?open=${row.id}`}
          onOpen={open}
          active={view.open}
          sort={{ key: view.sort ?? 'name', dir: view.order === 'desc' ? 'desc' : 'asc' }}
          onSort={({ key, dir }) => void change({ sort: key, order: dir })}
          selected={can('member:update') ? selected : undefined}
          onSelect={setSelected}
          bulk={<Bulk ids={[...selected]} onDone={() => setSelected(new Set())} />}
          phone={phone}
          onMore={() => list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
          loading={list.isPending || list.isFetchingNextPage}
        />
        {!list.isPending && !list.error && list.rows.length === 0 && <p className={css.none}>{t.filters.nothing}</p>}
        {isAlone && mayInvite && <Empty onInvite={openInvite} />}
      </div>
      {view.open && <Member key={view.open} id={view.open} onClose={() => void change({ open: undefined })} onStep={step} />}
      {view.new && mayInvite && (
        <Invite
          onClose={(invited) =>
            void change({ new: undefined, ...(invited && { isActive: 'false', open: undefined }) }, { replace: true })
          }
        />
      )}
    </div>
  );
}

function Filters({ total, all }: { total?: number; all?: number }) {
  const { view, change } = useView();
  const people = usePeople();
  const { fields, isActive } = t.people;
  const values = (of: Record<string, string>) => Object.entries(of).map(([value, label]) => ({ value, label }));
  // Roles may be words of one's own.
  const roles = [...new Set([...ROLES, ...people.all.flatMap(({ role }) => rolesOf(role))])];
  const filters: FilterField[] = [
    { key: 'role', label: fields.role, values: roles.map((role) => ({ value: role, label: t.roles[role] ?? role })) },
    { key: 'department', label: fields.department, values: values(t.departments) },
  ];
  return (
    <FilterBar
      filters={filters.flatMap(({ key, label, values: choices }) => {
        const value = view[key];
        return value ? [{ key, field: label, is: choices.find((one) => one.value === value)?.label ?? value }] : [];
      })}
      fields={filters}
      onAdd={(key, value) => void change({ [key]: value })}
      onRemove={(key) => void change({ [key]: undefined })}
      onClear={() => void change(Object.fromEntries(FILTERS.map((key) => [key, undefined])))}
      count={total === undefined || all === undefined ? '' : t.filters.count(total, all)}
      view={
        <>
          <SearchInput value={view.q} onChange={(q) => void change({ q }, { replace: true })} width={180} />
          {/* The list has either those who are active or those who are not. */}
          <SegmentedControl
            aria-label={fields.state}
            value={view.isActive === 'false' ? 'false' : 'true'}
            onChange={(next) => void change({ isActive: next === 'false' ? next : undefined, open: undefined })}
            data={values(isActive)}
          />
        </>
      }
    />
  );
}

function columns(isNarrow: boolean, me: string | undefined): Column<Row>[] {
  const { columns: header } = t.people;
  const all: (Column<Row> | false)[] = [
    {
      key: 'name',
      header: header.name,
      sortable: true,
      opens: true,
      render: ({ id, user }) => (
        <span className={css.name}>
          <Avatar name={user.name} size={24} />
          <span className="clip">{user.name}</span>
          {id === me && <span className="t3">({t.people.you})</span>}
        </span>
      ),
    },
    !isNarrow && {
      key: 'email',
      header: header.email,
      width: 220,
      sortable: true,
      render: ({ user }) => <span className="t2">{user.email}</span>,
    },
    { key: 'role', header: header.role, width: 140, render: ({ role }) => roleWords(role) },
    !isNarrow && {
      key: 'department',
      header: header.department,
      width: 124,
      render: ({ department }) => department !== 'none' && <span className="t2">{t.departments[department]}</span>,
    },
    { key: 'state', header: header.state, width: 118, render: (row) => <StatusPill {...states()[stateOf(row)]} /> },
    !isNarrow && {
      key: 'lastLogin',
      header: header.lastLogin,
      width: 128,
      render: ({ user }) =>
        user.lastLogin ? <span className="t2">{moment(user.lastLogin)}</span> : <span className="t3">{t.people.never}</span>,
    },
    !isNarrow && {
      key: 'createdAt',
      header: header.createdAt,
      width: 104,
      sortable: true,
      align: 'right',
      render: ({ createdAt }) => <span className="t2">{day(new Date(createdAt))}</span>,
    },
  ];
  return all.filter((one) => one !== false);
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
    </>
  ),
});

/** Changes everybody who is selected; tells how many could not be changed, and why. */
function Bulk({ ids, onDone }: { ids: string[]; onDone: () => void }) {
  const { can, memberId } = useMe();
  const { ask, dialog } = useConfirm();
  const [roles, setRoles] = useState<string>();
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
          onClick={() =>
            others.length === 0
              ? toast(bulk.onlyYou, { bad: true })
              : ask({
                  title: bulk.deactivateAsk(others.length),
                  text: t.people.deactivateText,
                  verb: t.people.deactivate,
                  act: () => each(others, deactivate),
                })
          }
        >
          {bulk.deactivate}
        </Button>
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
      {dialog}
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
