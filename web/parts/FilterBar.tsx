import { Menu } from '@mantine/core';
import { IconChevronLeft, IconChevronRight, IconFilterPlus, IconX } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { t } from '../texts';
import css from './FilterBar.module.css';

export type Filter = { key: string; field: string; is: string };
export type FilterField = {
  key: string;
  label: string;
  values: { value: string; label: string }[];
  /** Takes several values at once. */
  isMany?: boolean;
};

/** The values of a filter, as the address and the API have them. */
export const valuesOf = (text: string | undefined) => (text ? text.split(',') : []);

/** The same with a value more, or without it. */
const toggled = (text: string | undefined, value: string) => {
  const now = valuesOf(text);
  return (now.includes(value) ? now.filter((one) => one !== value) : [...now, value]).join(',') || undefined;
};

type Props = {
  filters: Filter[];
  fields: FilterField[];
  /** The values that are set, by the key of their field. */
  now: Record<string, string | undefined>;
  onSet: (key: string, value: string | undefined) => void;
  onRemove: (key: string) => void;
  onClear: () => void;
  count: string;
  /** Saved views, before the filters. */
  views?: ReactNode;
  /** Search, as-of and other tools. */
  tools?: ReactNode;
  /** Order, groups, columns and density; like `views` always in view. */
  display?: ReactNode;
};

export function FilterBar({ filters, fields, now, onSet, onRemove, onClear, count, views, tools, display }: Props) {
  const [field, setField] = useState<FilterField>();
  return (
    <div className={css.bar} data-filters role="group" aria-label={t.filters.label}>
      {views}
      <div className={css.scroller}>
        {filters.map((f) => (
          <span key={f.key} className={css.chip}>
            <Menu closeOnItemClick={!fields.find(({ key }) => key === f.key)?.isMany}>
              <Menu.Target>
                <button type="button" className={css.label} aria-label={t.filters.change(f.field, f.is)}>
                  <span>{t.filters.is(f.field)}</span> <b>{f.is}</b>
                </button>
              </Menu.Target>
              <Menu.Dropdown>
                <Choices field={fields.find(({ key }) => key === f.key)} now={now[f.key]} onSet={onSet} />
              </Menu.Dropdown>
            </Menu>
            <button type="button" className={css.remove} aria-label={t.filters.remove(f.field)} onClick={() => onRemove(f.key)}>
              <IconX size={13} />
            </button>
          </span>
        ))}
        {fields.length > 0 && (
          <Menu width={200} position="bottom-start" closeOnItemClick={false} onClose={() => setField(undefined)}>
            <Menu.Target>
              <button type="button" className={css.add}>
                <IconFilterPlus size={15} stroke={1.6} />
                {t.filters.add}
              </button>
            </Menu.Target>
            <Menu.Dropdown>
              {field ? (
                <>
                  <Menu.Item leftSection={<IconChevronLeft size={14} />} onClick={() => setField(undefined)}>
                    {t.filters.is(field.label)}
                  </Menu.Item>
                  <Menu.Divider />
                  <Choices field={field} now={now[field.key]} onSet={onSet} />
                </>
              ) : (
                fields.map((f) => (
                  <Menu.Item key={f.key} rightSection={<IconChevronRight size={14} />} onClick={() => setField(f)}>
                    {f.label}
                  </Menu.Item>
                ))
              )}
            </Menu.Dropdown>
          </Menu>
        )}
        {filters.length > 1 && (
          <button type="button" className={`plain ${css.clear}`} onClick={onClear}>
            {t.filters.clear}
          </button>
        )}
        <span className={css.spring} />
        <span className={css.count} aria-live="polite">
          {count}
        </span>
        {tools}
      </div>
      {display}
    </div>
  );
}

/** The values of a field: one of them, or several that are ticked. */
function Choices({ field, now, onSet }: { field?: FilterField; now?: string; onSet: Props['onSet'] }) {
  const set = valuesOf(now);
  return field?.values.map(({ value, label }) =>
    field.isMany ? (
      <Menu.CheckboxItem
        key={value}
        closeMenuOnClick={false}
        checked={set.includes(value)}
        onChange={() => onSet(field.key, toggled(now, value))}
      >
        {label}
      </Menu.CheckboxItem>
    ) : (
      <Menu.Item key={value} closeMenuOnClick onClick={() => onSet(field.key, value)}>
        {label}
      </Menu.Item>
    ),
  );
}
