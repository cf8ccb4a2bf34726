import { Menu } from '@mantine/core';
import { IconChevronLeft, IconChevronRight, IconFilterPlus, IconX } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { t } from '../texts';
import css from './FilterBar.module.css';

export type Filter = { key: string; field: string; is: string };
export type FilterField = { key: string; label: string; values: { value: string; label: string }[] };

type Props = {
  filters: Filter[];
  fields: FilterField[];
  onAdd: (key: string, value: string) => void;
  onRemove: (key: string) => void;
  onClear: () => void;
  count: string;
  /** Density, columns, as-of: what changes the view, not the set. */
  view?: ReactNode;
};

export function FilterBar({ filters, fields, onAdd, onRemove, onClear, count, view }: Props) {
  const [field, setField] = useState<FilterField>();
  return (
    <div className={css.bar} data-filters role="group" aria-label={t.filters.label}>
      {filters.map((f) => (
        <span key={f.key} className={css.chip}>
          <Menu>
            <Menu.Target>
              <button type="button" className={css.label} aria-label={t.filters.change(f.field, f.is)}>
                <span>{t.filters.is(f.field)}</span> <b>{f.is}</b>
              </button>
            </Menu.Target>
            <Menu.Dropdown>
              {fields
                .find((x) => x.key === f.key)
                ?.values.map((v) => (
                  <Menu.Item key={v.value} onClick={() => onAdd(f.key, v.value)}>
                    {v.label}
                  </Menu.Item>
                ))}
            </Menu.Dropdown>
          </Menu>
          <button type="button" className={css.remove} aria-label={t.filters.remove(f.field)} onClick={() => onRemove(f.key)}>
            <IconX size={13} />
          </button>
        </span>
      ))}
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
              {field.values.map((v) => (
                <Menu.Item key={v.value} closeMenuOnClick onClick={() => onAdd(field.key, v.value)}>
                  {v.label}
                </Menu.Item>
              ))}
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
      {filters.length > 1 && (
        <button type="button" className={`plain ${css.clear}`} onClick={onClear}>
          {t.filters.clear}
        </button>
      )}
      <span className={css.spring} />
      <span className={css.count} aria-live="polite">
        {count}
      </span>
      {view}
    </div>
  );
}
