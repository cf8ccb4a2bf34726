import { ActionIcon, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconPlus, IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useId, useRef, useState } from 'react';
import { useMe } from '../../api/session';
import { t } from '../../texts';
import { SectionError } from '../ErrorPage';
import { StatusPill } from '../StatusPill';
import { to } from '../to';
import { type Control, idsOf, type Kind, kinds, type Linked, READ, readiness } from './kinds';
import css from './Links.module.css';
import { controlOf, setLink, useControlsOf, useFound, useLinked, type Verb } from './queries';

/** What a control is linked to, kind by kind. */
export function Links({ control, mayChange }: { control: Control; mayChange: boolean }) {
  return kinds.map((kind) => <LinksOf key={kind} kind={kind} control={control} mayChange={mayChange} />);
}

const nameOf = ({ reference, name }: Linked) => `${reference} ${name}`.trim();

function LinksOf({ kind, control, mayChange }: { kind: Kind; control: Control; mayChange: boolean }) {
  const { can } = useMe();
  const all = useLinked(kind, control[idsOf[kind]], can(READ[kind]));
  const change = (record: Linked, verb: Verb) => {
    const name = record.reference || record.name;
    return setLink({ control: controlOf(control), kind, record }, verb, name);
  };
  return <LinkList of={kind} all={all} onChange={mayChange ? change : undefined} />;
}

type ControlsProps = {
  /** The record whose controls these are. */
  kind: Kind;
  record: Linked;
  asOf?: string;
  title?: string;
  none?: string;
  level?: 'h2' | 'h3';
};

/** The controls that a record is linked to. Whoever may not see controls sees nothing of them. */
export function LinkedControls(p: ControlsProps) {
  const { can } = useMe();
  return can(READ.control) ? <Controls {...p} /> : null;
}

function Controls({ kind, record, asOf, ...rest }: ControlsProps) {
  const { can } = useMe();
  const { data, error, refetch } = useControlsOf(kind, record.id, asOf);
  const change = (control: Linked, verb: Verb) => setLink({ control, kind, record }, verb, control.reference);
  if (error) return <SectionError error={error} onRetry={() => void refetch()} />;
  return <LinkList of="control" all={data} onChange={can('control:update') && !asOf ? change : undefined} {...rest} />;
}

type ListProps = {
  of: Kind | 'control';
  /** Undefined while they are loaded. */
  all: Linked[] | undefined;
  /** Without it the links are only read. */
  onChange?: (one: Linked, verb: Verb) => Promise<void>;
  title?: string;
  none?: string;
  level?: 'h2' | 'h3';
};

/** Links of one kind: each opens its record and can be removed; more are found by a few letters. */
export function LinkList({ of, all, onChange, level: Heading = 'h3', ...texts }: ListProps) {
  const { can } = useMe();
  const heading = useRef<HTMLHeadingElement>(null);
  const id = useId();
  const words = t.controls.links[of];
  return (
    <section className={css.links} aria-labelledby={id} data-level={Heading}>
      <Heading ref={heading} id={id} tabIndex={-1}>
        {texts.title ?? words.title}
      </Heading>
      {all?.length === 0 && <p className="t3">{texts.none ?? words.none}</p>}
      <ul>
        {all?.map((one) => (
          <li key={one.id}>
            <span className="mono t3">{one.reference}</span>
            <span className={css.name}>
              {one.href ? (
                <Link {...to(one.href)} className="link">
                  {one.name}
                </Link>
              ) : (
                one.name
              )}
              {one.group && <small className="t3">{one.group}</small>}
              <Ready of={one.readiness} />
            </span>
            {onChange && (
              <ActionIcon
                aria-label={t.controls.links.remove(nameOf(one))}
                onClick={() => {
                  // The button goes with its link.
                  heading.current?.focus({ preventScroll: true });
                  void onChange(one, 'unlink');
                }}
              >
                <IconX size={15} stroke={1.6} />
              </ActionIcon>
            )}
          </li>
        ))}
      </ul>
      {onChange && all && can(READ[of]) && <Picker of={of} linked={all} onPick={(one) => void onChange(one, 'link')} />}
    </section>
  );
}

/** How far a control is, with the number of its policies and tasks that are in place. */
function Ready({ of }: { of: Linked['readiness'] }) {
  if (!of) return null;
  const { detail } = t.frameworks;
  const { policies, tasks, status } = of;
  return (
    <small className={css.ready}>
      <StatusPill {...readiness()[status]} />
      <span className="t3 num">
        {[
          policies.linked > 0 && detail.policies(policies.inPlace, policies.linked),
          tasks.linked > 0 && detail.tasks(tasks.inPlace, tasks.linked),
        ]
          .filter(Boolean)
          .join(' · ')}
      </span>
    </small>
  );
}

/** The choices of a select: in groups where there are any. */
export function optionsOf(all: Linked[]) {
  const options = (some: Linked[]) => some.map((one) => ({ value: one.id, label: nameOf(one) }));
  const groups = [...new Set(all.map(({ group }) => group))];
  return groups.some(Boolean)
    ? groups.map((group) => ({ group: group ?? '', items: options(all.filter((one) => one.group === group)) }))
    : options(all);
}

type PickerProps = { of: Kind | 'control'; linked: Linked[]; onPick: (one: Linked) => void };

/** Finds what can be linked by a few letters. */
function Picker({ of, linked, onPick }: PickerProps) {
  const [isOpen, setOpen] = useState(false);
  const [letters, setLetters] = useState('');
  const [waited] = useDebouncedValue(letters, 200);
  const found = useFound(of, waited, isOpen).filter((one) => !linked.some(({ id }) => id === one.id));
  const label = t.controls.links[of].add;
  return (
    <Select
      mt={6}
      aria-label={label}
      placeholder={label}
      leftSection={<IconPlus size={14} stroke={1.7} />}
      rightSection={<span />}
      searchable
      value={null}
      searchValue={letters}
      onSearchChange={setLetters}
      onDropdownOpen={() => setOpen(true)}
      nothingFoundMessage={t.controls.links.none}
      filter={({ options }) => options}
      data={optionsOf(found)}
      maxDropdownHeight={280}
      onChange={(id) => {
        const chosen = found.find((one) => one.id === id);
        setLetters('');
        if (chosen) onPick(chosen);
      }}
    />
  );
}
