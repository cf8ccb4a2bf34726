import { Button, Select } from '@mantine/core';
import { useState } from 'react';
import { type Member, usePeople } from '../../api/people';
import { useMe } from '../../api/session';
import { useExemption } from '../../parts/exemption';
import { isOwner } from '../../parts/roles';
import { StatusPill } from '../../parts/StatusPill';
import { t } from '../../texts';
import { Section } from '../Section';
import css from '../settings.module.css';

/** The owners who sign in with their own credentials where single sign-on is required: the way back in. */
export function ExemptOwners({ exemptIds }: { exemptIds: string[] }) {
  const { can } = useMe();
  const people = usePeople();
  const { exempt, end, dialog } = useExemption();
  const texts = t.signIn.exempt;
  const mayChange = can('owner:manage') && can('member:update');
  const all = people.all.filter(({ id }) => exemptIds.includes(id));
  return (
    <Section id="exempt-owners" title={texts.title} lead={texts.lead}>
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
                <Button size="xs" variant="subtle" aria-label={texts.endOf(name)} onClick={() => end(member)}>
                  {t.people.endExemption}
                </Button>
              )}
            </li>
          );
        })}
      </ul>
      {mayChange && (
        <Add owners={people.active.filter((member) => isOwner(member) && !exemptIds.includes(member.id))} onAdd={exempt} />
      )}
      {dialog}
    </Section>
  );
}

function Add({ owners, onAdd }: { owners: Member[]; onAdd: (member: Member) => void }) {
  const texts = t.signIn.exempt;
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
