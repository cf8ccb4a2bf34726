import { ActionIcon, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconPlus, IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../api/client';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { toast } from '../parts/toast';
import { t } from '../texts';
import css from './controls.module.css';
import { idsOf, type Kind, kinds } from './fields';
import { type Control, type Linked, useFound, useLinked } from './queries';

/** Puts links on a control or takes them off; both can be undone. */
async function link(control: string, kind: Kind, what: Linked, verb: 'link' | 'unlink', isUndo = false) {
  try {
    await api.POST(`/v1/controls/{id}/${verb}`, { params: { path: { id: control } }, body: { [idsOf[kind]]: [what.id] } });
    await refetch('/v1/controls', '/v1/frameworks', '/v1/soa');
    const name = what.reference || what.name;
    const back = verb === 'link' ? 'unlink' : 'link';
    if (!isUndo)
      toast(verb === 'link' ? t.controls.links.linked(name) : t.controls.links.removed(name), {
        undo: () => link(control, kind, what, back, true),
      });
  } catch (error) {
    toast(words(error), { bad: true });
  }
}

/** What a control is linked to, kind by kind. */
export function Links({ control, mayChange }: { control: Control; mayChange: boolean }) {
  return kinds.map((kind) => <LinksOf key={kind} kind={kind} control={control} mayChange={mayChange} />);
}

const pages: Record<Exclude<Kind, 'requirement'>, (id: string) => string> = {
  policy: (id) => `/policies/${id}`,
  task: (id) => `/tasks/${id}`,
  risk: (id) => `/risks?open=${id}`,
  vendor: (id) => `/vendors?open=${id}`,
};

function LinksOf({ kind, control, mayChange }: { kind: Kind; control: Control; mayChange: boolean }) {
  const all = useLinked(kind, control);
  const text = t.controls.links[kind];
  return (
    <section className={css.links}>
      <h3>{text.title}</h3>
      {all.length === 0 && <p className="t3">{text.none}</p>}
      <ul>
        {all.map((one) => (
          <li key={one.id}>
            <span className="mono t3">{one.reference}</span>
            <span className={css.linked}>
              {kind === 'requirement' ? (
                one.name
              ) : (
                <Link to={pages[kind](one.id)} className="link">
                  {one.name}
                </Link>
              )}
              {one.group && <small className="t3">{one.group}</small>}
            </span>
            {mayChange && (
              <ActionIcon
                aria-label={t.controls.links.remove(`${one.reference} ${one.name}`)}
                onClick={() => void link(control.id, kind, one, 'unlink')}
              >
                <IconX size={15} stroke={1.6} />
              </ActionIcon>
            )}
          </li>
        ))}
      </ul>
      {mayChange && <Picker kind={kind} control={control} />}
    </section>
  );
}

/** Finds what could be linked by a few letters. */
function Picker({ kind, control }: { kind: Kind; control: Control }) {
  const [isOpen, setOpen] = useState(false);
  const [letters, setLetters] = useState('');
  const [waited] = useDebouncedValue(letters, 200);
  const found = useFound(kind, waited, isOpen).filter(({ id }) => !control[idsOf[kind]].includes(id));
  const label = (one: Linked) => `${one.reference} ${one.name}`;
  const groups = [...new Set(found.map(({ group }) => group))];
  const options = (of: Linked[]) => of.map((one) => ({ value: one.id, label: label(one) }));
  const data = groups.some(Boolean)
    ? groups.map((group) => ({ group: group ?? '', items: options(found.filter((one) => one.group === group)) }))
    : options(found);
  return (
    <Select
      mt={6}
      aria-label={t.controls.links[kind].add}
      placeholder={t.controls.links[kind].add}
      leftSection={<IconPlus size={14} stroke={1.7} />}
      rightSection={<span />}
      searchable
      value={null}
      searchValue={letters}
      onSearchChange={setLetters}
      onDropdownOpen={() => setOpen(true)}
      nothingFoundMessage={t.controls.links.none}
      filter={({ options }) => options}
      data={data}
      maxDropdownHeight={280}
      onChange={(id) => {
        const chosen = found.find((one) => one.id === id);
        setLetters('');
        if (chosen) void link(control.id, kind, chosen, 'link');
      }}
    />
  );
}
