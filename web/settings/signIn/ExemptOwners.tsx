import { Button, Select } from '@mantine/core';
import { useState } from 'react';
import { exempt, type Member, usePeople } from '../../api/people';
import { refetch } from '../../api/query';
import { useMe } from '../../api/session';
import { useConfirm } from '../../parts/confirm';
import { StatusPill } from '../../parts/StatusPill';
import { toast } from '../../parts/toast';
import { t } from '../../texts';
import { Section } from '../Section';
import css from '../settings.module.css';
import { POLICY } from './queries';

const isOwner = ({ role }: Member) => role.split(',').includes('owner');

async function set(member: Member, isExempt: boolean) {
  await exempt(member.id, isExempt);
  await refetch('/v1/people', POLICY, '/v1/auth/security');
  toast(isExempt ? t.people.exempted(member.user.name) : t.people.exemptionEnded(member.user.name));
}

/** The owners who sign in with their own credentials where single sign-on is required: the way back in. */
export function ExemptOwners({ exemptIds }: { exemptIds: string[] }) {
  const { can } = useMe();
  const people = usePeople();
  const { ask, dialog } = useConfirm();
  const texts = t.settings.exempt;
  const mayChange = can('owner:manage') && can('member:update');
  const all = people.all.filter(({ id }) => exemptIds.includes(id));
  return (
    <Section title={texts.title} lead={texts.lead}>
      {exemptIds.length === 0 && <p className="t3">{texts.none}</p>}
      <ul className={css.lines}>
        {all.map((member) => {
          const { name, email } = member.user;
          return (
            <li key={member.id}>
              <span>
                <b>{name}</b> <span className="t2">{email}</span>{' '}
                {!member.hasSecondFactor && <StatusPill label={t.people.noFactor} tone="warn" shape="alert" />}
              </span>
              {mayChange && (
                <Button
                  size="xs"
                  variant="subtle"
                  aria-label={texts.endOf(name)}
                  onClick={() =>
                    ask({
                      title: t.people.endExemptionAsk(name),
                      text: t.people.endExemptionText,
                      verb: t.people.endExemption,
                      withIdentity: true,
                      act: () => set(member, false),
                    })
                  }
                >
                  {t.people.endExemption}
                </Button>
              )}
            </li>
          );
        })}
      </ul>
      {mayChange && (
        <Add
          owners={people.active.filter((member) => isOwner(member) && !exemptIds.includes(member.id))}
          onAdd={(member) =>
            ask({
              title: t.people.exemptAsk(member.user.name),
              text: t.people.exemptText,
              verb: t.people.exempt,
              withIdentity: true,
              isSafe: true,
              act: () => set(member, true),
            })
          }
        />
      )}
      {dialog}
    </Section>
  );
}

function Add({ owners, onAdd }: { owners: Member[]; onAdd: (member: Member) => void }) {
  const texts = t.settings.exempt;
  const [chosen, setChosen] = useState<string | null>(null);
  const member = owners.find(({ id }) => id === chosen);
  if (owners.length === 0) return null;
  return (
    <div className={css.inline}>
      <Select
        label={texts.owner}
        description={texts.ownerHelp}
        data={owners.map(({ id, user, hasSecondFactor }) => ({
          value: id,
          label: hasSecondFactor ? user.name : `${user.name} (${t.people.noFactor})`,
          disabled: !hasSecondFactor,
        }))}
        value={member ? chosen : null}
        onChange={setChosen}
      />
      <Button variant="default" disabled={!member} onClick={() => member && onAdd(member)}>
        {t.people.exempt}
      </Button>
    </div>
  );
}
