import { Alert, Button, Modal, Select, Table } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '../../api/client';
import { orgFetch } from '../../api/demands';
import { saveResponse } from '../../api/download';
import { organization } from '../../api/organization';
import { usePeople } from '../../api/people';
import { type FieldProblem, Problem, problemOf, sentence, words } from '../../api/problem';
import { refetch } from '../../api/query';
import { useMe } from '../../api/session';
import { t } from '../../texts';
import { useConfirm } from '../confirm';
import { joined, renamed, split } from '../csv';
import { today } from '../format';
import { toast } from '../toast';
import type { Imported } from './definition';
import { guesses } from './guesses';
import { Preview, type RowProblem } from './Preview';

const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
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
  const [wrong, setWrong] = useState<RowProblem[]>([]);
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
    const response = await orgFetch(`${d.path}/import/preview${query}`, {
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
  // Rows that are left out later do not move the errors of the others.
  const placed = (errors: FieldProblem[]): RowProblem[] =>
    errors.map((one) => ({ ...one, place: typeof one.row === 'number' ? kept[one.row - 1] : undefined }));
  const general = wrong.filter(({ place }) => place === undefined);
  const numberOf = (place: number) => table?.numbers[place] ?? place + 2;
  const fix = (place: number, column: number, cell: string) => {
    setResult(undefined);
    const field = mapping[column];
    setWrong((wrong) => wrong.map((one) => (one.place === place && one.field === field ? { ...one, isChanged: true } : one)));
    setTable(
      (table) =>
        table && {
          ...table,
          rows: table.rows.map((row, at) => (at === place ? Object.assign([...row], { [column]: cell }) : row)),
        },
    );
  };
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
      const response = await orgFetch(`${d.path}/import?dryRun=${dryRun}`, {
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
      setWrong(placed(answer.errors));
      if (dryRun) return setResult(answer);
      await refetch(d.path);
      toast(t.imports.done(answer.imported));
      onClose();
    } catch (error) {
      if (error instanceof Problem && error.errors.length > 0) setWrong(placed(error.errors));
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
      size={table ? 960 : 'lg'}
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
              {result.errorCount > result.errors.length && ` ${t.imports.first(result.errors.length)}`}
            </Alert>
          )}
          {general.length > 0 && (
            <ul className="missing">
              {general.map((one, at) => (
                <li key={at}>{`${d.labels[one.field] ?? one.field}: ${sentence(one.message)}`}</li>
              ))}
            </ul>
          )}
          {table.rows.length > 0 && (
            <Preview
              d={d}
              rows={table.rows}
              mapping={mapping}
              numberOf={numberOf}
              read={read}
              problems={wrong}
              leftOut={leftOut}
              onFix={fix}
              onLeave={leave}
            />
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
