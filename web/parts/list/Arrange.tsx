import { Button, Menu } from '@mantine/core';
import { IconAdjustmentsHorizontal } from '@tabler/icons-react';
import { t } from '../../texts';
import { useView } from '../search';
import type { Column } from './Table';

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

type Props<Row> = { columns: Column<Row>[]; groups: Group<Row>[] };

/** How rows are shown: their height, their groups, their columns. */
export function Arrange<Row>({ columns, groups }: Props<Row>) {
  const { view, change } = useView();
  const shown = chosen(columns, view.columns);
  const toggle = (column: Column<Row>) => {
    const next = shown.includes(column) ? shown.filter((one) => one !== column) : [...shown, column];
    const keys = columns.filter((one) => next.includes(one) && !one.opens).map(({ key }) => key);
    const usual = columns.filter((one) => !one.opens && !one.isExtra).map(({ key }) => key);
    // Without any column there is still a choice, which an empty text would not be.
    void change({ columns: keys.join() === usual.join() ? undefined : keys.join() || 'none' }, { replace: true });
  };
  const group = (one?: Group<Row>) =>
    void change({ group: one?.key, sort: one?.sort, order: one ? 'asc' : undefined }, { replace: true });
  return (
    <Menu width={220} position="bottom-end" closeOnItemClick={false}>
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<IconAdjustmentsHorizontal size={15} stroke={1.6} />} visibleFrom="sm">
          {t.filters.arrange}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {groups.length > 0 && (
          <>
            <Menu.Label>{t.filters.groupBy}</Menu.Label>
            <Menu.RadioGroup value={view.group ?? ''} onChange={(key) => group(groups.find((one) => one.key === key))}>
              <Menu.RadioItem value="">{t.filters.noGroup}</Menu.RadioItem>
              {groups.map(({ key, label }) => (
                <Menu.RadioItem key={key} value={key}>
                  {label}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          </>
        )}
        <Menu.Label>{t.filters.columns}</Menu.Label>
        {columns
          .filter(({ opens }) => !opens)
          .map((column) => (
            <Menu.CheckboxItem key={column.key} checked={shown.includes(column)} onChange={() => toggle(column)}>
              {column.header}
            </Menu.CheckboxItem>
          ))}
        <Menu.Label>{t.filters.density}</Menu.Label>
        <Menu.RadioGroup
          value={view.density ?? 'regular'}
          onChange={(density) => void change({ density: density === 'regular' ? undefined : density }, { replace: true })}
        >
          <Menu.RadioItem value="regular">{t.filters.regular}</Menu.RadioItem>
          <Menu.RadioItem value="compact">{t.filters.compact}</Menu.RadioItem>
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
}
