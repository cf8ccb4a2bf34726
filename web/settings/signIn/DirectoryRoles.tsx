import { Button, Select, TextInput } from '@mantine/core';
import { useMemo, useState } from 'react';
import { api } from '../../api/client';
import { words } from '../../api/problem';
import { refetch } from '../../api/query';
import { useMe } from '../../api/session';
import { useConfirmed } from '../../parts/confirmed';
import { Field } from '../../parts/Field';
import { roleWords } from '../../parts/roles';
import { toast } from '../../parts/toast';
import { language, t } from '../../texts';
import css from '../settings.module.css';
import type { Directory, Group } from './directory';
import { DIRECTORY } from './queries';
import { roleChoices } from './sso';

/** The value of the choice that stands for no role. */
const NONE = '';
/** The number of groups that are shown at first. */
const FEW = 20;

type Props = { directory: Directory; groups: Group[] };

/** The roles that the directory gives: by group, and to people whose groups give none. */
export function DirectoryRoles({ directory: { defaultRole }, groups }: Props) {
  const { can } = useMe();
  const { run, dialog } = useConfirmed();
  const texts = t.signIn.directory.roles;
  const mayChange = can('identity:update');

  /** Saves a role; the directory and the people who have it are fetched again. */
  const save = (send: () => Promise<unknown>, saved: string, undo?: () => unknown) =>
    run(async () => {
      await send();
      await refetch(DIRECTORY, '/v1/people');
      toast(saved, { undo });
    }).catch((problem) => toast(words(problem), { bad: true }));
  const setDefault = (role: string, undo?: () => unknown) =>
    save(() => api.PATCH(DIRECTORY, { body: { defaultRole: role } }), texts.byDefaultSaved(roleWords(role)), undo);
  const setRole = ({ id, name }: Group, role: string | null, undo?: () => unknown) =>
    save(
      () => api.PATCH('/v1/organization/directory/groups/{id}', { params: { path: { id } }, body: { role } }),
      texts.saved(name, role ? roleWords(role) : texts.noRole),
      undo,
    );

  return (
    <section className={css.part}>
      <h3>{texts.title}</h3>
      <p className="t2">{texts.lead}</p>
      {mayChange ? (
        <Select
          w="100%"
          maw={380}
          label={texts.byDefault}
          description={texts.byDefaultHelp}
          data={roleChoices(defaultRole)}
          value={defaultRole}
          allowDeselect={false}
          onChange={(role) => role && role !== defaultRole && void setDefault(role, () => setDefault(defaultRole))}
        />
      ) : (
        <dl>
          <Field name="defaultRole" label={texts.byDefault} kind="text" value={null}>
            {roleWords(defaultRole)}
          </Field>
        </dl>
      )}
      <Groups
        groups={groups}
        onRole={mayChange ? (group, role) => void setRole(group, role, () => setRole(group, group.role)) : undefined}
      />
      {dialog}
    </section>
  );
}

type GroupsProps = {
  groups: Group[];
  /** Absent if roles are only read. */
  onRole?: (group: Group, role: string | null) => void;
};

function Groups({ groups, onRole }: GroupsProps) {
  const [query, setQuery] = useState('');
  const [isAll, setAll] = useState(false);
  const texts = t.signIn.directory.roles;
  const { columns } = texts;
  const sorted = useMemo(() => [...groups].sort((one, other) => one.name.localeCompare(other.name, language)), [groups]);
  const wanted = query.trim().toLocaleLowerCase(language);
  const found = sorted.filter(({ name }) => name.toLocaleLowerCase(language).includes(wanted));
  const shown = isAll ? found : found.slice(0, FEW);
  if (groups.length === 0) return <p className="t3">{texts.none}</p>;
  return (
    <>
      {groups.length > FEW && (
        <TextInput
          type="search"
          w="100%"
          maw={380}
          label={texts.find}
          value={query}
          onChange={(event) => setQuery(event.currentTarget.value)}
        />
      )}
      {found.length === 0 && <p className="t3">{texts.nothing}</p>}
      {found.length > 0 && (
        <table className={css.table}>
          <caption className="hidden-visually">{texts.title}</caption>
          <thead>
            <tr>
              {[columns.group, columns.members, columns.role].map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((group) => (
              <Line key={group.id} group={group} onRole={onRole} />
            ))}
          </tbody>
        </table>
      )}
      {shown.length < found.length && (
        <Button size="xs" variant="subtle" onClick={() => setAll(true)}>
          {texts.all(found.length)}
        </Button>
      )}
    </>
  );
}

function Line({ group, onRole }: { group: Group } & Pick<GroupsProps, 'onRole'>) {
  const texts = t.signIn.directory.roles;
  const { name, members, role } = group;
  return (
    <tr>
      <td data-label={texts.columns.group}>
        <b>{name}</b>
      </td>
      <td data-label={texts.columns.members} className="t2 num">
        {members.toLocaleString(language)}
      </td>
      <td data-label={texts.columns.role}>
        {onRole ? (
          <Select
            size="xs"
            w={180}
            aria-label={texts.roleOf(name)}
            data={[{ value: NONE, label: texts.noRole }, ...roleChoices(role)]}
            value={role ?? NONE}
            allowDeselect={false}
            onChange={(next) => next !== (role ?? NONE) && onRole(group, next || null)}
          />
        ) : (
          (role && roleWords(role)) || texts.noRole
        )}
      </td>
    </tr>
  );
}
