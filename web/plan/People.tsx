import { Button, Select } from '@mantine/core';
import { IconUserPlus } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { usePeople } from '../api/people';
import { useMe } from '../api/session';
import { t } from '../texts';
import css from './plan.module.css';
import type { StepProps } from './SetUp';
import { ROLES } from './settings';

const Invite = lazy(() => import('../people/Invite').then((module) => ({ default: module.Invite })));

/** The active members as choices; without the permission to see them, the reader alone. */
export function useOwners() {
  const people = usePeople();
  const { user, memberId } = useMe();
  const all = people.active.map(({ id, user: { name, email } }) => ({ value: id, label: name || email }));
  return all.length > 0 || !memberId ? all : [{ value: memberId, label: user?.name || user?.email || memberId }];
}

/** Who has which role. */
export function PeopleStep({ settings, set }: StepProps) {
  const { can } = useMe();
  const owners = useOwners();
  const [isInviting, setInviting] = useState(false);
  const words = t.plan.people;
  return (
    <>
      <ul className={css.roles}>
        {ROLES.map((role) => (
          <li key={role} className={css.role}>
            <div>
              <p className={css.asked}>{t.plan.roles[role]}</p>
              <p className={css.help}>{t.plan.roleHelp[role]}</p>
            </div>
            <Select
              aria-label={t.plan.roles[role]}
              data={owners}
              value={settings.owners[role] || null}
              placeholder={words.nobody}
              clearable
              searchable={owners.length > 8}
              onChange={(next) => set({ owners: { ...settings.owners, [role]: next ?? '' } })}
            />
          </li>
        ))}
      </ul>
      {can('member:create') && (
        <div className={css.invite}>
          <Button variant="default" leftSection={<IconUserPlus size={16} stroke={1.6} />} onClick={() => setInviting(true)}>
            {words.invite}
          </Button>
          <p className="t3">{words.inviteHint}</p>
        </div>
      )}
      {isInviting && (
        <Suspense>
          <Invite onClose={() => setInviting(false)} />
        </Suspense>
      )}
    </>
  );
}
