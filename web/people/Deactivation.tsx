import { Select } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type BulkPath, bulk } from '../api/bulk';
import { $api } from '../api/client';
import { useTotal } from '../api/lists';
import { SERVICE_ACCOUNTS, usePeople } from '../api/people';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { Dialog } from '../parts/Dialog';
import { pageOf } from '../parts/places';
import { to as linkTo } from '../parts/to';
import { t } from '../texts';
import css from './people.module.css';

type Kind = Exclude<keyof typeof t.people.owned, 'context_entry'>;
const KINDS: { kind: Kind; path: BulkPath; permission: string }[] = [
  { kind: 'risk', path: '/v1/risks', permission: 'risk:read' },
  { kind: 'vendor', path: '/v1/vendors', permission: 'vendor:read' },
  { kind: 'task', path: '/v1/tasks', permission: 'task:read' },
  { kind: 'control', path: '/v1/controls', permission: 'control:read' },
  { kind: 'policy', path: '/v1/policies', permission: 'policy:read' },
];

type Props = { ids: string[]; title: string; act: () => Promise<unknown>; onClose: () => void };

/**
 * Asks before people are deactivated: lists what they own, and hands it over to somebody first. Service accounts are only
 * listed: they keep working without an owner.
 */
export function Deactivation({ ids, title, act, onClose }: Props) {
  const { can } = useMe();
  const people = usePeople();
  const [to, setTo] = useState<string | null>(null);
  const assigneeId = ids.join(',');
  const totals: Record<Kind, number | undefined> = {
    risk: useTotal('/v1/risks', { assigneeId }, can('risk:read')),
    vendor: useTotal('/v1/vendors', { assigneeId }, can('vendor:read')),
    task: useTotal('/v1/tasks', { assigneeId }, can('task:read')),
    control: useTotal('/v1/controls', { assigneeId }, can('control:read')),
    policy: useTotal('/v1/policies', { assigneeId }, can('policy:read')),
  };
  const owned = KINDS.flatMap(({ kind, path }) => {
    const count = totals[kind] ?? 0;
    return count > 0 ? [{ kind, path, count }] : [];
  });
  const accounts = $api.useQuery('get', SERVICE_ACCOUNTS, {}, { enabled: can('api-key:read') });
  const orphans = accounts.data?.data.filter(({ ownerId, isOrphaned }) => ids.includes(ownerId) && !isOrphaned) ?? [];
  // Nobody is deactivated before it is known what would be left without an owner.
  const isKnown =
    KINDS.every(({ kind, permission }) => totals[kind] !== undefined || !can(permission)) &&
    (accounts.data !== undefined || !can('api-key:read'));

  async function go() {
    if (to) {
      for (const { path, count } of owned) await bulk(path, { filter: { assigneeId }, count }, { change: { assigneeId: to } });
      await refetch(...owned.map(({ path }) => path));
    }
    await act();
  }

  return (
    <Dialog title={title} verb={to ? t.people.handOverVerb : t.people.deactivate} isReady={isKnown} act={go} onClose={onClose}>
      <p className="t2">{t.people.deactivateText}</p>
      {owned.length > 0 && (
        <>
          <div>
            <p>{t.people.owns(ids.length)}</p>
            <ul className={css.owned}>
              {owned.map(({ kind, path, count }) => (
                <li key={kind}>
                  <Link to={path.slice('/v1'.length)} search={{ assigneeId } as never} className="link">
                    {t.people.owned[kind](count)}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
          <Select
            label={t.people.handOver}
            description={t.people.handOverHelp}
            placeholder={t.bulk.nobody}
            data={people.active.filter(({ id }) => !ids.includes(id)).map(({ id, user }) => ({ value: id, label: user.name }))}
            value={to}
            searchable
            clearable
            openOnFocus={false}
            onChange={setTo}
            data-autofocus
          />
        </>
      )}
      {orphans.length > 0 && (
        <div>
          <p>{t.people.accounts(orphans.length)}</p>
          <ul className={css.owned}>
            {orphans.map(({ id, name }) => (
              <li key={id}>
                <Link {...linkTo(pageOf('service_account', id) ?? '/')} className="link">
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      )}
    </Dialog>
  );
}
