import { Alert, Button, Modal, Table, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type DragEvent, useState } from 'react';
import { api, type Schemas } from '../api/client';
import { orgFetch } from '../api/demands';
import { organization } from '../api/organization';
import { type FieldProblem, Problem, problemOf, words } from '../api/problem';
import { refetch } from '../api/query';
import { toast } from '../parts/toast';
import { t } from '../texts';
import css from './frameworks.module.css';
import type { Framework } from './queries';

type Chosen = { name: string; type: 'text/csv' | 'application/json'; text: string };
type Trial = Schemas['FrameworkTrial'];

/** A framework of one's own: the file is tried first, and only then saved. With `old` it takes that one's place. */
export function Upload({
  old,
  onClose,
  onDone,
}: {
  old?: Framework;
  onClose: () => void;
  onDone: (framework: Framework) => void;
}) {
  const { upload } = t.frameworks;
  const [file, setFile] = useState<Chosen>();
  const [names, setNames] = useState({ name: old?.name ?? '', alias: '', version: '' });
  const [trial, setTrial] = useState<Trial>();
  const [wrong, setWrong] = useState<FieldProblem[]>([]);
  const [problem, setProblem] = useState<string>();
  const [isOver, setOver] = useState(false);
  const [busy, setBusy] = useState(false);
  // Whoever replaces it meanwhile is not overwritten.
  const { data: version } = useQuery({
    queryKey: ['version', '/v1/frameworks', old?.id],
    queryFn: async () => {
      const { response } = await api.GET('/v1/frameworks/{id}', { params: { path: { id: old?.id ?? '' } } });
      return response.headers.get('ETag') ?? '';
    },
    enabled: old !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const isTable = file?.type === 'text/csv';

  async function choose(given: File | null | undefined) {
    if (!given) return;
    const type = given.name.toLowerCase().endsWith('.csv') ? 'text/csv' : 'application/json';
    setTrial(undefined);
    setWrong([]);
    setProblem(undefined);
    setFile({ name: given.name, type, text: await given.text() });
  }

  async function send(dryRun: boolean) {
    if (!file) return;
    setBusy(true);
    setProblem(undefined);
    setWrong([]);
    try {
      const said = Object.entries(names).filter(([key, value]) => value.trim() !== '' && (key !== 'name' || isTable));
      const query = new URLSearchParams([...said.map(([key, value]) => [key, value.trim()]), ['dryRun', String(dryRun)]]);
      const response = await orgFetch(`/v1/frameworks${old ? `/${old.id}` : ''}?${query}`, {
        method: old ? 'PUT' : 'POST',
        headers: {
          'Content-Type': file.type,
          'X-Organization-Id': organization() ?? '',
          ...(version ? { 'If-Match': version } : {}),
        },
        body: file.text,
      });
      if (!response.ok) throw await problemOf(response);
      if (dryRun) {
        const answer = (await response.json()) as Trial;
        setTrial(answer);
        setWrong(answer.errors);
        return;
      }
      const framework = (await response.json()) as Framework;
      await refetch('/v1/frameworks', '/v1/controls');
      toast(old ? upload.replaced(framework.name) : upload.added(framework.name));
      onDone(framework);
    } catch (error) {
      if (error instanceof Problem) setWrong(error.errors);
      setProblem(words(error));
    } finally {
      setBusy(false);
    }
  }

  const word = (key: keyof typeof names, label: string, description?: string) => (
    <TextInput
      label={key === 'name' ? label : `${label} ${t.forms.optional}`}
      description={description}
      value={names[key]}
      onChange={(event) => {
        const { value } = event.currentTarget;
        setNames((before) => ({ ...before, [key]: value }));
        setTrial(undefined);
      }}
    />
  );
  const isFine = trial?.framework && trial.errors.length === 0;

  return (
    <Modal
      opened
      onClose={onClose}
      title={old ? upload.replaceTitle(old.name) : upload.title}
      size="lg"
      closeButtonProps={{ 'aria-label': t.actions.close }}
    >
      <div style={{ display: 'grid', gap: 12 }}>
        <p className="t2">{old ? upload.replaceText : upload.text}</p>
        {!file ? (
          <label
            className={css.drop}
            data-over={isOver || undefined}
            onDragOver={(event: DragEvent) => {
              event.preventDefault();
              setOver(true);
            }}
            onDragLeave={() => setOver(false)}
            onDrop={(event: DragEvent) => {
              event.preventDefault();
              void choose(event.dataTransfer.files[0]);
            }}
          >
            {upload.choose}
            <input
              type="file"
              accept=".json,.csv,application/json,text/csv"
              onChange={(event) => void choose(event.currentTarget.files?.[0])}
            />
          </label>
        ) : (
          <>
            <p>{file.name}</p>
            {isTable && word('name', upload.name, upload.nameHelp)}
            {!old && word('alias', upload.alias)}
            {isTable && word('version', upload.version)}
            {problem && (
              <Alert color="red" variant="light" role="alert">
                {problem}
              </Alert>
            )}
            {trial && (
              <Alert color={isFine ? 'green' : 'red'} variant="light" role="status">
                {trial.framework && isFine
                  ? upload.fine(trial.framework.name, trial.framework.totalRequirements)
                  : upload.wrong(trial.errors.length)}
              </Alert>
            )}
            {wrong.length > 0 && <Mistakes wrong={wrong} />}
            <div style={{ display: 'flex', justifyContent: 'flex-end', gap: 8, marginTop: 8 }}>
              <Button variant="subtle" onClick={() => setFile(undefined)}>
                {upload.again}
              </Button>
              {isFine ? (
                <Button onClick={() => void send(false)} loading={busy}>
                  {old ? upload.replace : upload.add}
                </Button>
              ) : (
                <Button onClick={() => void send(true)} loading={busy}>
                  {upload.check}
                </Button>
              )}
            </div>
          </>
        )}
      </div>
    </Modal>
  );
}

function Mistakes({ wrong }: { wrong: FieldProblem[] }) {
  const { upload } = t.frameworks;
  return (
    <div style={{ maxHeight: 240, overflow: 'auto' }} tabIndex={0} role="region" aria-label={upload.problem}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{upload.row}</Table.Th>
            <Table.Th>{upload.field}</Table.Th>
            <Table.Th>{upload.problem}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {wrong.map((one, at) => (
            <Table.Tr key={at}>
              <Table.Td className="num">{one.row ?? ''}</Table.Td>
              <Table.Td>{one.field}</Table.Td>
              <Table.Td>{one.message}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
