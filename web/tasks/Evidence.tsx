import { ActionIcon, TextInput } from '@mantine/core';
import { IconDownload, IconFile, IconRobot, IconTrash } from '@tabler/icons-react';
import { type RefObject, useState } from 'react';
import { api } from '../api/client';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { useConfirm } from '../parts/confirm';
import { SectionError } from '../parts/ErrorPage';
import { freshness } from '../parts/evidence';
import { DropZone, openFile, useFiles } from '../parts/Files';
import { Freshness } from '../parts/Freshness';
import { day, size, today } from '../parts/format';
import { t } from '../texts';
import css from './Detail.module.css';
import type { Task } from './fields';
import { useNames } from './rights';

/** The files that show that a task was done, and for how long they still do. */
export function EvidenceFiles({ task, section }: { task: Task; section: RefObject<HTMLElement | null> }) {
  const { data, error, refetch: again } = useFiles('/v1/tasks', task.id);
  const { can } = useMe();
  const name = useNames();
  const { ask, dialog } = useConfirm();
  const [date, setDate] = useState('');
  const words = t.tasks.evidence;
  const files = (data ?? []).map((file) => {
    const of = file.effectiveDate ?? file.createdAt.slice(0, 10);
    return { ...file, of, fresh: freshness(of, task.frequency) };
  });
  files.sort((a, b) => b.of.localeCompare(a.of) || b.createdAt.localeCompare(a.createdAt));
  const fresh = files.filter((file) => !file.fresh || file.fresh.left > 0).length;
  const remove = (attachmentId: string) =>
    api
      .DELETE('/v1/tasks/{taskId}/attachments/{attachmentId}', {
        params: { path: { taskId: task.id, attachmentId } },
        body: {},
      })
      .then(() => refetch('/v1/tasks'));

  return (
    <section ref={section} className={css.section} aria-labelledby="evidence">
      <div className={css.head}>
        <h2 id="evidence">{words.title}</h2>
        {files.length > 0 && (
          <span className="t3 num">{task.frequency ? words.fresh(fresh, files.length) : words.files(files.length)}</span>
        )}
      </div>
      {error && <SectionError error={error} onRetry={() => void again()} />}
      {data?.length === 0 && <p className="t3">{words.none}</p>}
      {files.length > 0 && (
        <table className={css.files}>
          <thead>
            <tr>
              <th scope="col">{words.file}</th>
              <th scope="col">{words.from}</th>
              <th scope="col">{words.of}</th>
              <th scope="col">{words.freshness}</th>
              <th scope="col">
                <span className="hidden-visually">{words.actions}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {files.map((file, place) => (
              <tr key={file.id}>
                <td>
                  <span className={css.file}>
                    {file.runId ? (
                      <IconRobot size={17} stroke={1.5} aria-hidden="true" />
                    ) : (
                      <IconFile size={17} stroke={1.5} aria-hidden="true" />
                    )}
                    <button
                      type="button"
                      className="plain clip"
                      title={`${file.name}, ${size(file.size)}`}
                      onClick={() => void openFile(file.id)}
                    >
                      {file.name}
                    </button>
                  </span>
                </td>
                <td className="t2 clip">{file.runId ? words.automation : name(file.uploadedBy)}</td>
                <td className="t2">{day(file.of)}</td>
                <td>
                  {place > 0 ? (
                    <span className="t3">{words.replaced}</span>
                  ) : file.fresh ? (
                    <Freshness {...file.fresh} />
                  ) : (
                    <span className="t3">{words.lasting}</span>
                  )}
                </td>
                <td className={css.acts}>
                  <ActionIcon aria-label={`${t.actions.download} ${file.name}`} onClick={() => void openFile(file.id)}>
                    <IconDownload size={16} stroke={1.6} />
                  </ActionIcon>
                  {can('attachment:delete') && (
                    <ActionIcon
                      aria-label={`${words.delete}: ${file.name}`}
                      onClick={() =>
                        ask({
                          title: t.record.deleteFileAsk(file.name),
                          text: t.record.deleteFileText,
                          verb: words.delete,
                          act: () => remove(file.id),
                        })
                      }
                    >
                      <IconTrash size={16} stroke={1.6} />
                    </ActionIcon>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {can('attachment:create') && (
        <div className={css.drop}>
          <DropZone path="/v1/tasks" id={task.id} extra={date ? { effectiveDate: date } : {}} onDone={() => setDate('')} />
          <TextInput
            type="date"
            label={words.date}
            size="xs"
            max={today()}
            value={date || today()}
            onChange={(event) => setDate(event.currentTarget.value)}
          />
        </div>
      )}
      {dialog}
    </section>
  );
}
