import { ActionIcon, Progress } from '@mantine/core';
import { IconDownload, IconFile, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type DragEvent, useRef, useState } from 'react';
import { api, type Schemas } from '../api/client';
import { call } from '../api/paths';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { named, place } from '../api/records';
import { upload } from '../api/upload';
import { t } from '../texts';
import { useConfirm } from './confirm';
import { SectionError } from './ErrorPage';
import css from './Files.module.css';
import { day, moment, size } from './format';
import { toast } from './toast';

export type FilesOf = '/v1/risks' | '/v1/vendors' | '/v1/tasks' | '/v1/policies';
type Attachment = Schemas['Attachment'];
const inside = <P extends FilesOf>(path: P) => `${place(path)}/attachments` as const;

export function useFiles(path: FilesOf, id: string) {
  return useQuery({
    queryKey: ['files', path, id],
    queryFn: async (): Promise<Attachment[]> => {
      const { data } = await call('get', inside(path), { path: named(path, id) });
      return Array.isArray(data) ? data : data.data;
    },
  });
}

/** Opens a stored file by a link that works for a while. */
export async function openFile(id: string) {
  try {
    const { data } = await api.GET('/v1/attachments/{id}/download', { params: { path: { id } } });
    if (data) location.assign(data.downloadUrl);
  } catch (problem) {
    toast(words(problem), { bad: true });
  }
}

type DropZoneProps = {
  path: FilesOf;
  id: string;
  /** What is said of each file, by the names of the form's fields. */
  extra?: Record<string, string>;
  onDone?: () => void;
};

/** Drop files here or choose them; each shows how far it is. */
export function DropZone({ path, id, extra = {}, onDone }: DropZoneProps) {
  const [over, setOver] = useState(false);
  const [running, setRunning] = useState<Record<string, number>>({});
  const chooser = useRef<HTMLInputElement>(null);

  async function send(files: FileList | null) {
    for (const file of files ?? []) {
      const form = new FormData();
      for (const [name, value] of Object.entries(extra)) form.append(name, value);
      form.append('file', file);
      try {
        await upload(`${path}/${id}/attachments`, form, (share) => setRunning((all) => ({ ...all, [file.name]: share })));
      } catch (problem) {
        toast(`${file.name}: ${words(problem)}`, { bad: true });
      } finally {
        setRunning(({ [file.name]: _, ...others }) => others);
      }
    }
    await refetch(path);
    onDone?.();
  }

  function drop(event: DragEvent) {
    event.preventDefault();
    setOver(false);
    void send(event.dataTransfer.files);
  }

  return (
    <div
      className={css.zone}
      data-over={over || undefined}
      role="group"
      aria-label={t.record.attach}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <span>
        {t.record.drop}{' '}
        <button type="button" className="plain link" onClick={() => chooser.current?.click()}>
          {t.record.choose}
        </button>
      </span>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label={t.record.attach}
        onChange={(event) => void send(event.currentTarget.files)}
      />
      {Object.entries(running).map(([name, share]) => (
        <Progress key={name} value={share * 100} aria-label={t.record.uploading(name)} mt={8} />
      ))}
    </div>
  );
}

export function Files({ path, id, canChange }: { path: FilesOf; id: string; canChange: boolean }) {
  const { data, error, refetch: again } = useFiles(path, id);
  const { ask, dialog } = useConfirm();
  const remove = (file: Attachment) => {
    const names = { ...named(path, id), attachmentId: file.id };
    return call('delete', `${inside(path)}/{attachmentId}`, { path: names }).then(() => refetch(path));
  };
  return (
    <>
      {canChange && <DropZone path={path} id={id} />}
      {error && <SectionError error={error} onRetry={() => void again()} />}
      {data?.length === 0 && !canChange && <p className="t3">{t.record.noFiles}</p>}
      <ul className={css.list}>
        {data?.map((file) => (
          <li key={file.id} className={css.file}>
            <IconFile size={18} stroke={1.5} aria-hidden="true" />
            <div className={css.words}>
              <button type="button" className={`plain ${css.name}`} onClick={() => void openFile(file.id)}>
                {file.name}
              </button>
              <small>
                {size(file.size)} · {file.effectiveDate ? day(file.effectiveDate) : moment(file.createdAt)}
                {file.description && ` · ${file.description}`}
              </small>
            </div>
            <ActionIcon aria-label={`${t.actions.download} ${file.name}`} onClick={() => void openFile(file.id)}>
              <IconDownload size={16} stroke={1.6} />
            </ActionIcon>
            {canChange && (
              <ActionIcon
                aria-label={`${t.record.deleteFile}: ${file.name}`}
                onClick={() =>
                  ask({
                    title: t.record.deleteFileAsk(file.name),
                    text: t.record.deleteFileText,
                    verb: t.record.deleteFile,
                    act: () => remove(file),
                  })
                }
              >
                <IconTrash size={16} stroke={1.6} />
              </ActionIcon>
            )}
          </li>
        ))}
      </ul>
      {dialog}
    </>
  );
}
