import { Alert, Button, Modal, Select, Table } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '../../api/client';
import { organization } from '../../api/organization';
import { type FieldProblem, Problem, problemOf, words } from '../../api/problem';
import { refetch } from '../../api/query';
import { t } from '../../texts';
import { renamed, split } from '../csv';
import { toast } from '../toast';
import type { Imported } from './definition';

const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
type Result = Schemas['ImportResult'];
type Table_ = { name: string; content: string | File; header: string[] };

/** A table becomes records: which column is what, what is wrong row by row, and only then the import. */
export function Import({ d, onClose }: { d: Imported; onClose: () => void }) {
  const [table, setTable] = useState<Table_>();
  const [mapping, setMapping] = useState<string[]>([]);
  const [result, setResult] = useState<Result>();
  const [problem, setProblem] = useState<string>();
  const [wrong, setWrong] = useState<FieldProblem[]>([]);
  const [busy, setBusy] = useState(false);
  const fields = d.fields.map(({ name }) => ({ value: name, label: d.labels[name] ?? name }));
  const all = [
    { value: d.nameField, label: d.labels[d.nameField] ?? d.nameField },
    ...fields.filter(({ value }) => value !== d.nameField),
  ];

  async function choose(file: File | null | undefined) {
    if (!file) return;
    setResult(undefined);
    setProblem(undefined);
    setWrong([]);
    if (file.name.toLowerCase().endsWith('.xlsx')) {
      setTable({ name: file.name, content: file, header: [] });
      return;
    }
    const content = await file.text();
    const header = split(content)[0] ?? [];
    setTable({ name: file.name, content, header });
    setMapping(header.map((column) => guess(column, all)));
  }

  async function send(dryRun: boolean) {
    if (!table) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const isText = typeof table.content === 'string';
      const response = await fetch(`${d.path}/import?dryRun=${dryRun}`, {
        method: 'POST',
        headers: { 'Content-Type': isText ? 'text/csv' : XLSX, 'X-Organization-Id': organization() ?? '' },
        body: typeof table.content === 'string' ? renamed(table.content, mapping) : table.content,
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

  return (
    <Modal
      opened
      onClose={onClose}
      title={t.imports.title(d.texts.many)}
      size="lg"
      closeButtonProps={{ 'aria-label': t.actions.close }}
    >
      {!table ? (
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
      ) : (
        <>
          <p className="t2">{table.name}</p>
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
                    <Table.Td>{column}</Table.Td>
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
            <p className="t3">{t.imports.xlsx}</p>
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
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {wrong.map((one, at) => (
                    <Table.Tr key={at}>
                      <Table.Td className="num">{one.row ?? ''}</Table.Td>
                      <Table.Td>{d.labels[one.field] ?? one.field}</Table.Td>
                      <Table.Td>{one.message}</Table.Td>
                    </Table.Tr>
                  ))}
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
    </Modal>
  );
}

/** The field that a column most likely is: by its name or by its label. */
export function guess(column: string, fields: { value: string; label: string }[]): string {
  const bare = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '');
  return fields.find(({ value, label }) => bare(value) === bare(column) || bare(label) === bare(column))?.value ?? '';
}
