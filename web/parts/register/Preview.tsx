import { Checkbox, Select, TextInput } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, useState } from 'react';
import { type FieldProblem, sentence } from '../../api/problem';
import { t } from '../../texts';
import type { Imported } from './definition';
import css from './Preview.module.css';

/** An error, and the row of the table that it is in. Once its cell was changed, it is open until the next check. */
export type RowProblem = FieldProblem & { place?: number; isChanged?: boolean };

/** What the API says of a word that is no choice; its choices are in the words of the API. */
const ONE_OF = 'must be one of';
const ROW = 36;
/** Fewer rows than this are simply all there, so that the browser's own search finds them. */
const FEW = 200;

type Props = {
  d: Imported;
  rows: string[][];
  /** The field that each column becomes; empty for those that are left out. */
  mapping: string[];
  /** The number of a row in the file. */
  numberOf: (place: number) => number;
  /** The word of the API for a cell. */
  read: (name: string, cell: string) => string;
  problems: RowProblem[];
  leftOut: Set<number>;
  onFix: (place: number, column: number, cell: string) => void;
  onLeave: (place: number) => void;
};

/** All rows of a table as they will be imported, with their errors where they are. Only the rows in view are in the page. */
export function Preview({ d, rows, mapping, numberOf, read, problems, leftOut, onFix, onLeave }: Props) {
  const [isOnlyWrong, setOnlyWrong] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const columns = mapping.flatMap((name, at) => (name ? [{ name, at, label: d.labels[name] ?? name }] : []));
  const wrong = new Map<number, RowProblem[]>();
  for (const one of problems) if (one.place !== undefined) wrong.set(one.place, [...(wrong.get(one.place) ?? []), one]);
  const places = isOnlyWrong && wrong.size > 0 ? [...wrong.keys()].sort((one, other) => one - other) : rows.map((_, at) => at);
  const list = useVirtualizer({
    count: places.length,
    getScrollElement: () => frame.current,
    getItemKey: (index) => places[index] ?? index,
    estimateSize: () => ROW,
    overscan: places.length < FEW ? FEW : 12,
  });
  const seen = list.getVirtualItems();
  const before = seen[0]?.start ?? 0;
  const after = list.getTotalSize() - (seen.at(-1)?.end ?? 0);
  const span = columns.length + 2;
  const saying = ({ field, message }: RowProblem) => {
    const choices = d.fields.find(({ name }) => name === field)?.choices;
    return choices && message.startsWith(ONE_OF) ? t.imports.oneOf(Object.values(choices).join(', ')) : sentence(message);
  };

  return (
    <>
      {wrong.size > 0 && (
        <Checkbox
          mt={12}
          label={t.imports.onlyWrong(wrong.size)}
          checked={isOnlyWrong}
          onChange={(event) => setOnlyWrong(event.currentTarget.checked)}
        />
      )}
      <div ref={frame} className={css.frame} tabIndex={0} role="region" aria-label={t.imports.rows}>
        <table className={css.table} aria-rowcount={places.length}>
          <caption className="hidden-visually">{t.imports.rows}</caption>
          <thead>
            <tr>
              <th scope="col">{t.imports.row}</th>
              {columns.map(({ at, label }) => (
                <th key={at} scope="col">
                  {label}
                </th>
              ))}
              <th scope="col">{t.imports.leaveOut}</th>
            </tr>
          </thead>
          {before > 0 && <Space columns={span} height={before} />}
          {seen.map(({ index, key }) => {
            const place = places[index];
            if (place === undefined) return null;
            const number = numberOf(place);
            const isOut = leftOut.has(place);
            const own = wrong.get(place) ?? [];
            const others = own.filter(({ field }) => columns.every(({ name }) => name !== field));
            return (
              <tbody key={key} ref={list.measureElement} data-index={index} data-left={isOut || undefined}>
                <tr aria-rowindex={index + 1} data-bad={own.some(({ isChanged }) => !isChanged) || undefined}>
                  <th scope="row" className="num">
                    {number}
                  </th>
                  {columns.map(({ name, at, label }) => {
                    const cell = rows[place]?.[at] ?? '';
                    const problem = own.find(({ field }) => field === name);
                    return (
                      <td key={at}>
                        {problem ? (
                          <>
                            <Input
                              label={t.imports.cell(number, label)}
                              cell={cell}
                              choices={d.fields.find((field) => field.name === name)?.choices}
                              word={read(name, cell)}
                              isOut={isOut}
                              onChange={(next) => onFix(place, at, next)}
                            />
                            {!problem.isChanged && <small className={css.problem}>{saying(problem)}</small>}
                          </>
                        ) : (
                          <span className={css.cell} title={cell}>
                            {cell}
                          </span>
                        )}
                      </td>
                    );
                  })}
                  <td>
                    <Checkbox
                      size="xs"
                      aria-label={t.imports.leaveOutRow(number)}
                      checked={isOut}
                      onChange={() => onLeave(place)}
                    />
                  </td>
                </tr>
                {others.length > 0 && (
                  <tr>
                    <td colSpan={span} className={css.problem}>
                      {others.map((one) => `${d.labels[one.field] ?? one.field}: ${saying(one)}`).join(' ')}
                    </td>
                  </tr>
                )}
              </tbody>
            );
          })}
          {after > 0 && <Space columns={span} height={after} />}
        </table>
      </div>
    </>
  );
}

type InputProps = {
  label: string;
  cell: string;
  choices?: Record<string, string>;
  word: string;
  isOut: boolean;
  onChange: (cell: string) => void;
};

/** A cell that is found wrong, fixed where it stands. */
function Input({ label, cell, choices, word, isOut, onChange }: InputProps) {
  if (!choices)
    return (
      <TextInput
        size="xs"
        aria-label={label}
        value={cell}
        disabled={isOut}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  return (
    <Select
      size="xs"
      aria-label={label}
      placeholder={cell}
      data={Object.entries(choices).map(([value, label]) => ({ value, label }))}
      value={word in choices ? word : null}
      allowDeselect={false}
      disabled={isOut}
      onChange={(next) => onChange(next ?? '')}
    />
  );
}

/** Room for the rows that are not in the page. */
function Space({ columns, height }: { columns: number; height: number }) {
  return (
    <tbody aria-hidden="true">
      <tr>
        <td colSpan={columns} style={{ height, padding: 0, border: 0 }} />
      </tr>
    </tbody>
  );
}
