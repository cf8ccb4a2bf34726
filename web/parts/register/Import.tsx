import { Alert, Button, Checkbox, Modal, Select, Table, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '../../api/client';
import { saveResponse } from '../../api/download';
import { organization } from '../../api/organization';
import { usePeople } from '../../api/people';
import { type FieldProblem, Problem, problemOf, words } from '../../api/problem';
import { refetch } from '../../api/query';
import { useMe } from '../../api/session';
import { t } from '../../texts';
import { useConfirm } from '../confirm';
import { joined, renamed, split } from '../csv';
import { today } from '../format';
import { toast } from '../toast';
import type { Imported } from './definition';
import { guesses } from './guesses';

const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
/** What the API says of a word that is no choice; its choices are in the words of the API. */
const ONE_OF = 'must be one of';
type Result = Schemas['ImportResult'];
/** A table as it was written: `numbers` are those of the rows in the file. */
type Table_ = {
  name: string;
  file: File;
  header: string[];
  rows: string[][];
  numbers: number[];
  sheets: string[];
  sheet?: string;
};

/** A table becomes records: which column is what, what is wrong row by row, and only then the import. */
export function Import({ d, onClose }: { d: Imported; onClose: () => void }) {
  const [table, setTable] = useState<Table_>();
  const [mapping, setMapping] = useState<string[]>([]);
  const [result, setResult] = useState<Result>();
  const [problem, setProblem] = useState<string>();
  const [wrong, setWrong] = useState<FieldProblem[]>([]);
  const [busy, setBusy] = useState(false);
  const [leftOut, setLeftOut] = useState(new Set<number>());
  const { ask, isAsking, dialog } = useConfirm();
  const { memberId } = useMe();
  const me = usePeople().all.find(({ id }) => id === memberId);
  const fields = d.fields.map(({ name }) => ({ value: name, label: d.labels[name] ?? name }));
  const all = [
    { value: d.nameField, label: d.labels[d.nameField] ?? d.nameField },
    ...fields.filter(({ value }) => value !== d.nameField),
  ];

  async function choose(file: File | null | undefined, sheet?: string) {
    if (!file) return;
    setResult(undefined);
    setProblem(undefined);
    setWrong([]);
    try {
      const next = file.name.toLowerCase().endsWith('.xlsx') ? await workbook(file, sheet) : await text(file);
      setTable(next);
      setLeftOut(new Set());
      setMapping(guesses(next.header, all, d));
    } catch (error) {
      setProblem(words(error));
    }
  }

  async function text(file: File): Promise<Table_> {
    const [header = [], ...rows] = split(await file.text());
    return { name: file.name, file, header, rows, numbers: rows.map((_, at) => at + 2), sheets: [] };
  }

  /** The server reads a workbook; from then on its sheet is a table like any other. */
  async function workbook(file: File, sheet?: string): Promise<Table_> {
    const query = sheet ? `?${new URLSearchParams({ sheet })}` : '';
    const response = await fetch(`${d.path}/import/preview${query}`, {
      method: 'POST',
      headers: { 'Content-Type': XLSX, 'X-Organization-Id': organization() ?? '' },
      body: file,
    });
    if (!response.ok) throw await problemOf(response);
    const { sheets, columns, rows } = (await response.json()) as Schemas['TablePreview'];
    return {
      name: file.name,
      file,
      header: columns,
      rows: rows.map(({ cells }) => cells),
      numbers: rows.map(({ row }) => row + 1),
      sheets,
      sheet: sheet ?? sheets[0],
    };
  }

  // The rows that are sent, by their place in the file.
  const kept = table?.rows.map((_, at) => at).filter((at) => !leftOut.has(at)) ?? [];
  // A word of the console is the word of the API.
  const read = (name: string, cell: string) => {
    const field = d.fields.find((one) => one.name === name);
    const choices = [field?.choices, field?.synonyms].flatMap((words) => Object.entries(words ?? {}));
    const written = cell.trim().toLowerCase();
    return choices.find(([, label]) => label.toLowerCase() === written)?.[0] ?? cell;
  };
  const placeOf = (row: number | undefined) => (row === undefined ? undefined : kept[row - 1]);
  const numberOf = (place: number) => table?.numbers[place] ?? place + 2;
  const fix = (place: number, column: number, cell: string) =>
    table &&
    setTable({
      ...table,
      rows: table.rows.map((row, at) => (at === place ? row.map((old, own) => (own === column ? cell : old)) : row)),
    });
  const leave = (place: number) => {
    const next = new Set(leftOut);
    if (!next.delete(place)) next.add(place);
    setLeftOut(next);
    setResult(undefined);
  };
  const sample = () => {
    const fields = d.fields.filter(({ name }) => !name.endsWith('Ids'));
    const example = ({ name, kind, choices }: (typeof fields)[number]) => {
      if (choices) return Object.values(choices)[0] ?? '';
      if (kind === 'date') return today();
      if (kind === 'person') return me?.user.email ?? '';
      return kind === 'yes' ? t.filters.no : (d.labels[name] ?? name);
    };
    const table = joined([fields.map(({ name }) => d.labels[name] ?? name), fields.map(example)]);
    const headers = { 'Content-Disposition': `filename="${d.path.split('/').pop()}.csv"` };
    void saveResponse(new Response(`\uFEFF${table}`, { headers }));
  };

  async function send(dryRun: boolean) {
    if (!table) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const { rows } = table;
      const response = await fetch(`${d.path}/import?dryRun=${dryRun}`, {
        method: 'POST',
        headers: { 'Content-Type': 'text/csv', 'X-Organization-Id': organization() ?? '' },
        body: renamed(
          kept.map((at) => rows[at] ?? []),
          mapping,
          read,
        ),
      });
      if (!response.ok) throw await problemOf(response);
      const answer = (await response.json()) as Result;
      setWrong(answer.errors);
      if (dryRun) return setResult(answer);
      await refetch(d.path);
      toast(t.imports.done(answer.imported));
      onClose();
    } catch (error) {
      if (error instanceof Problem && error.errors.length > 0) setWrong(error.errors);
      setProblem(words(error));
    } finally {
      setBusy(false);
    }
  }

  const close = () =>
    table
      ? ask({
          title: t.imports.discardAsk,
          text: t.imports.discardText,
          verb: t.imports.discard,
          act: async () => onClose(),
        })
      : onClose();
  return (
    <Modal
      opened
      onClose={close}
      closeOnEscape={!isAsking}
      title={t.imports.title(d.texts.many)}
      size="lg"
      closeButtonProps={{ 'aria-label': t.actions.close }}
    >
      {!table ? (
        <div className="stack">
          <label
            style={{
              display: 'block',
              padding: '32px 16px',
              border: '1px dashed var(--c-control)',
              borderRadius: 10,
              textAlign: 'center',
              cursor: 'pointer',
            }}
          >
            {t.imports.choose}
            <input
              type="file"
              accept=".csv,.xlsx,text/csv"
              onChange={(event) => void choose(event.currentTarget.files?.[0])}
              style={{ display: 'block', margin: '12px auto 0' }}
            />
          </label>
          <button type="button" className="plain link" onClick={sample}>
            {t.imports.sample}
          </button>
          {problem && (
            <Alert color="red" variant="light" role="alert">
              {problem}
            </Alert>
          )}
        </div>
      ) : (
        <>
          <p className="t2">{table.name}</p>
          {table.sheets.length > 1 && (
            <Select
              label={t.imports.sheet}
              data={table.sheets}
              value={table.sheet ?? null}
              allowDeselect={false}
              mt={8}
              onChange={(sheet) => sheet && void choose(table.file, sheet)}
            />
          )}
          {table.header.length > 0 ? (
            <Table aria-label={t.imports.columns} mt={12}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{t.imports.column}</Table.Th>
                  <Table.Th>{t.imports.field}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {table.header.map((column, at) => (
                  <Table.Tr key={at}>
                    <Table.Td>
                      {column}
                      <span className="t3 sample">
                        {table.rows
                          .slice(0, 2)
                          .map((row) => row[at])
                          .filter(Boolean)
                          .join(' · ')}
                      </span>
                    </Table.Td>
                    <Table.Td>
                      <Select
                        aria-label={`${column}: ${t.imports.field}`}
                        data={[{ value: '', label: t.imports.ignore }, ...all]}
                        value={mapping[at] ?? ''}
                        onChange={(next) => {
                          setMapping(mapping.map((old, place) => (place === at ? (next ?? '') : old)));
                          setResult(undefined);
                        }}
                      />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          ) : (
            <p className="t3">{t.imports.empty}</p>
          )}
          {problem && (
            <Alert color="red" variant="light" role="alert" mt={12}>
              {problem}
            </Alert>
          )}
          {result && (
            <Alert color={result.errorCount ? 'red' : 'green'} variant="light" role="status" mt={12}>
              {result.errorCount ? t.imports.wrong(result.errorCount) : t.imports.fine(result.total)}
            </Alert>
          )}
          {wrong.length > 0 && (
            <div style={{ maxHeight: 260, overflow: 'auto' }} tabIndex={0} role="region" aria-label={t.imports.problem}>
              <Table mt={12}>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{t.imports.row}</Table.Th>
                    <Table.Th>{t.imports.field}</Table.Th>
                    <Table.Th>{t.imports.problem}</Table.Th>
                    <Table.Th>
                      <span className="hidden-visually">{t.imports.leaveOut}</span>
                    </Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {wrong.map((one, at) => {
                    const place = placeOf(one.row);
                    const column = mapping.indexOf(one.field);
                    const choices = d.fields.find(({ name }) => name === one.field)?.choices;
                    const cell = (place !== undefined && table.rows[place]?.[column]) || '';
                    const canFix = place !== undefined && column >= 0;
                    return (
                      <Table.Tr key={at} data-left={(place !== undefined && leftOut.has(place)) || undefined}>
                        <Table.Td className="num">{place === undefined ? '' : numberOf(place)}</Table.Td>
                        <Table.Td>{d.labels[one.field] ?? one.field}</Table.Td>
                        <Table.Td>
                          {canFix && choices && (
                            <Select
                              size="xs"
                              aria-label={t.imports.cell(numberOf(place), d.labels[one.field] ?? one.field)}
                              placeholder={cell}
                              data={Object.entries(choices).map(([value, label]) => ({ value, label }))}
                              value={Object.keys(choices).find((word) => word === read(one.field, cell)) ?? null}
                              allowDeselect={false}
                              disabled={leftOut.has(place)}
                              onChange={(next) => {
                                fix(place, column, next ?? '');
                                setResult(undefined);
                              }}
                            />
                          )}
                          {canFix && !choices && (
                            <TextInput
                              size="xs"
                              aria-label={t.imports.cell(numberOf(place), d.labels[one.field] ?? one.field)}
                              value={cell}
                              disabled={leftOut.has(place)}
                              onChange={(event) => {
                                fix(place, column, event.currentTarget.value);
                                setResult(undefined);
                              }}
                            />
                          )}
                          {choices && one.message.startsWith(ONE_OF)
                            ? t.imports.oneOf(Object.values(choices).join(', '))
                            : one.message}
                        </Table.Td>
                        <Table.Td>
                          {place !== undefined && (
                            <Checkbox
                              size="xs"
                              label={t.imports.leaveOut}
                              aria-label={t.imports.leaveOutRow(numberOf(place))}
                              checked={leftOut.has(place)}
                              onChange={() => leave(place)}
                            />
                          )}
                        </Table.Td>
                      </Table.Tr>
                    );
                  })}
                </Table.Tbody>
              </Table>
            </div>
          )}
          <div style={{ display: 'flex', justifyContent: 'flex-end', gap: 8, marginTop: 20 }}>
            <Button variant="subtle" onClick={() => setTable(undefined)}>
              {t.imports.again}
            </Button>
            {result && result.errorCount === 0 ? (
              <Button onClick={() => void send(false)} loading={busy}>
                {t.imports.import(result.total)}
              </Button>
            ) : (
              <Button onClick={() => void send(true)} loading={busy}>
                {t.imports.check}
              </Button>
            )}
          </div>
        </>
      )}
      {dialog}
    </Modal>
  );
}
