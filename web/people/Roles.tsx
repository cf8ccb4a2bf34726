import { Checkbox, TextInput } from '@mantine/core';
import { useMe } from '../api/session';
import { ROLES, rolesOf } from '../parts/roles';
import { t } from '../texts';
import css from './people.module.css';

type Props = { label: string; help?: string; value: string; onChange: (next: string) => void; error?: string };

/** Several roles, joined by commas: the built-in ones with what they allow, and words of one's own. */
export function Roles({ label, help, value, onChange, error }: Props) {
  const { can } = useMe();
  const chosen = rolesOf(value);
  const known = ROLES.filter((role) => chosen.includes(role));
  const others = chosen.filter((role) => !(ROLES as readonly string[]).includes(role));
  return (
    <div className={css.roles}>
      <Checkbox.Group
        label={label}
        description={help}
        error={error}
        value={known}
        onChange={(next) => onChange([...ROLES.filter((role) => next.includes(role)), ...others].join(','))}
      >
        <div className={css.choices}>
          {ROLES.map((role) => (
            <Checkbox
              key={role}
              value={role}
              label={t.roles[role]}
              description={role === 'owner' && !can('owner:manage') ? t.people.ownersOnly : t.people.rolesHelp[role]}
              disabled={role === 'owner' && !can('owner:manage')}
            />
          ))}
        </div>
      </Checkbox.Group>
      <TextInput
        label={t.people.otherRoles}
        description={t.people.otherRolesHelp}
        defaultValue={others.join(', ')}
        onChange={(event) => {
          const words = event.currentTarget.value.split(',').map((word) => word.trim());
          onChange([...known, ...words.filter((word) => word !== '')].join(','));
        }}
      />
    </div>
  );
}
