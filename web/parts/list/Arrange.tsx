import { ActionIcon, Button, Checkbox, Drawer, Menu, Radio } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconAdjustmentsHorizontal } from '@tabler/icons-react';
import { t } from '../../texts';
import { useView } from '../search';
import css from './Arrange.module.css';
import type { Column, Sort } from './Table';

/** What rows can be grouped by: a column whose order puts the same values together. */
export type Group<Row> = { key: string; label: string; sort: string; of: (row: Row) => { key: string; label: string } };

/** The columns that are shown: those that were chosen, or those that are there by themselves. */
export function chosen<Row>(columns: Column<Row>[], words: string | undefined): Column<Row>[] {
  const keys = words?.split(',');
  return columns.filter((column) => column.opens || (keys ? keys.includes(column.key) : !column.isExtra));
}

/** The rows with those of one group together; groups and their rows stay in the order of the list. */
export function gathered<Row>(rows: Row[], of: Group<Row>['of']): Row[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const { key } = of(row);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups.values()].flat();
}

/** One question of the display: exactly one answer, or any number of them. */
type Section = {
  label: string;
  options: { key: string; label: string }[];
  /** The keys of the options that are on. */
  on: string[];
  isMany?: boolean;
  onPick: (key: string) => void;
};

type Props<Row> = { columns: Column<Row>[]; groups: Group<Row>[]; sort?: Sort };

/** How rows are shown: their groups, their columns, their height. On a phone, where there are no column heads, also their order. */
export function Arrange<Row>(p: Props<Row>) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const { group, columns, density, sort, order } = useSections(p);
  const icon = <IconAdjustmentsHorizontal size={15} stroke={1.6} />;
  return (
    <>
      <Menu width={220} position="bottom-end" closeOnItemClick={false}>
        <Menu.Target>
          <Button size="xs" variant="default" leftSection={icon} visibleFrom="sm">
            {t.filters.arrange}
          </Button>
        </Menu.Target>
        <Menu.Dropdown className={css.menu}>
          {[group, columns, density].map((section) => section && <MenuSection key={section.label} {...section} />)}
        </Menu.Dropdown>
      </Menu>
      <ActionIcon variant="default" hiddenFrom="sm" aria-label={t.filters.arrange} aria-haspopup="dialog" onClick={open}>
        {icon}
      </ActionIcon>
      <Drawer
        opened={isOpen}
        onClose={close}
        position="bottom"
        size="auto"
        title={t.filters.arrange}
        closeButtonProps={{ 'aria-label': t.actions.close }}
        attributes={{ content: { 'aria-label': t.filters.arrange }, header: { role: 'presentation' } }}
        classNames={{ content: css.sheet }}
      >
        {[sort, order, group, columns].map((section) => section && <SheetSection key={section.label} {...section} />)}
      </Drawer>
    </>
  );
}

function useSections<Row>({ columns, groups, sort }: Props<Row>) {
  const { view, change } = useView();
  const set = (next: Record<string, string | undefined>) => void change(next, { replace: true });
  const shown = chosen(columns, view.columns);
  const toggle = (key: string) => {
    const next = columns.filter((one) => (one.key === key) !== shown.includes(one) && !one.opens).map((one) => one.key);
    const usual = columns.filter((one) => !one.opens && !one.isExtra).map((one) => one.key);
    // Without any column there is still a choice, which an empty text would not be.
    set({ columns: next.join() === usual.join() ? undefined : next.join() || 'none' });
  };
  const pickGroup = (key: string) => {
    const one = groups.find((group) => group.key === key);
    set({ group: one?.key, sort: one?.sort, order: one ? 'asc' : undefined });
  };
  // Two columns may have the same order.
  const sortable = columns.flatMap((column, place) =>
    column.sort && columns.findIndex((one) => one.sort === column.sort) === place
      ? [{ key: column.sort, label: column.header }]
      : [],
  );
  const pickSort = (key: string) =>
    set({ sort: key, order: columns.find((one) => one.sort === key)?.isHighFirst ? 'desc' : 'asc' });
  return {
    group: groups.length > 0 && {
      label: t.filters.groupBy,
      options: [{ key: '', label: t.filters.noGroup }, ...groups],
      on: [groups.find(({ key }) => key === view.group)?.key ?? ''],
      onPick: pickGroup,
    },
    columns: {
      label: t.filters.columns,
      options: columns.filter(({ opens }) => !opens).map(({ key, header }) => ({ key, label: header })),
      on: shown.map(({ key }) => key),
      isMany: true,
      onPick: toggle,
    },
    density: {
      label: t.filters.density,
      options: [
        { key: 'regular', label: t.filters.regular },
        { key: 'compact', label: t.filters.compact },
      ],
      on: [view.density ?? 'regular'],
      onPick: (key: string) => set({ density: key === 'regular' ? undefined : key }),
    },
    sort: sort !== undefined &&
      sortable.length > 0 && { label: t.filters.sortBy, options: sortable, on: [sort.key], onPick: pickSort },
    order: sort !== undefined &&
      sortable.length > 0 && {
        label: t.filters.order,
        options: [
          { key: 'asc', label: t.filters.ascending },
          { key: 'desc', label: t.filters.descending },
        ],
        on: [sort.dir],
        onPick: (key: string) => set({ sort: sort.key || sortable[0]?.key, order: key }),
      },
  };
}

function MenuSection({ label, options, on, isMany, onPick }: Section) {
  return (
    <>
      <Menu.Label>{label}</Menu.Label>
      {isMany ? (
        options.map(({ key, label }) => (
          <Menu.CheckboxItem key={key} checked={on.includes(key)} onChange={() => onPick(key)}>
            {label}
          </Menu.CheckboxItem>
        ))
      ) : (
        <Menu.RadioGroup value={on[0]} onChange={onPick}>
          {options.map(({ key, label }) => (
            <Menu.RadioItem key={key} value={key}>
              {label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      )}
    </>
  );
}

function SheetSection({ label, options, on, isMany, onPick }: Section) {
  const lines = options.map(({ key, label }) =>
    isMany ? (
      <Checkbox key={key} size="md" label={label} value={key} onChange={() => onPick(key)} className={css.option} />
    ) : (
      <Radio key={key} size="md" label={label} value={key} className={css.option} />
    ),
  );
  return isMany ? (
    <Checkbox.Group label={label} className={css.section} value={on}>
      {lines}
    </Checkbox.Group>
  ) : (
    <Radio.Group label={label} className={css.section} value={on[0] ?? ''} onChange={onPick}>
      {lines}
    </Radio.Group>
  );
}
