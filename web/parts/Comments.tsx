import { ActionIcon, Button, CloseButton, Combobox, Textarea, useCombobox } from '@mantine/core';
import { IconPaperclip, IconTrash } from '@tabler/icons-react';
import { Fragment, useRef, useState } from 'react';
import { $api, api, type Schemas } from '../api/client';
import { type Member, usePeople } from '../api/people';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { base64 } from '../api/upload';
import { t } from '../texts';
import css from './Comments.module.css';
import { useDraft } from './drafts';
import { SectionError } from './ErrorPage';
import { openFile } from './Files';
import { moment, utc } from './format';
import { Avatar } from './Person';
import { useView } from './search';
import { toast } from './toast';

type About = { entityType: Schemas['CreateComment']['entityType']; entityId: string };

export function useComments(about: About) {
  return $api.useQuery('get', '/v1/comments', { params: { query: { ...about, limit: 200 } } });
}

export function Comments(about: About) {
  const { data, error, refetch: again } = useComments(about);
  const { user } = useMe();
  const people = usePeople();
  if (error) return <SectionError error={error} onRetry={() => void again()} />;
  if (!data) return null;
  if (data.data.length === 0) return <p className="t3">{t.record.noComments}</p>;
  return (
    <ol className={css.list}>
      {data.data.map((comment) => (
        <li key={comment.id} className={css.comment}>
          <Avatar name={comment.author.name} size={24} />
          <div className={css.words}>
            <p className={css.who}>
              <b>{comment.author.name}</b>{' '}
              <time dateTime={comment.createdAt} title={utc(comment.createdAt)}>
                {moment(comment.createdAt)}
              </time>
            </p>
            <p className={css.text}>
              <Mentioning text={comment.content} people={people.all} />
            </p>
            {comment.attachments.map((file) => (
              <button key={file.id} type="button" className={`plain ${css.file}`} onClick={() => void openFile(file.id)}>
                <IconPaperclip size={14} stroke={1.6} aria-hidden="true" /> {file.name}
              </button>
            ))}
          </div>
          {comment.author.email === user?.email && (
            <ActionIcon
              aria-label={t.record.deleteComment}
              onClick={() =>
                void api
                  .DELETE('/v1/comments/{commentId}', { params: { path: { commentId: comment.id } }, body: {} })
                  .then(() => refetch('/v1/comments'))
                  .catch((problem) => toast(words(problem), { bad: true }))
              }
            >
              <IconTrash size={15} stroke={1.6} />
            </ActionIcon>
          )}
        </li>
      ))}
    </ol>
  );
}

/** A text in pieces, each with the person it begins with; of two names that fit, the longer one is meant. */
function pieces(text: string, people: Member[]): { part: string; person?: Member }[] {
  return text.split(/(?=@)/).map((part) => {
    const fitting = people.filter(({ user }) => part.startsWith(`@${user.name}`));
    return { part, person: fitting.sort((one, other) => other.user.name.length - one.user.name.length)[0] };
  });
}

/** A text in which the names of people stand out. */
function Mentioning({ text, people }: { text: string; people: Member[] }) {
  return pieces(text, people).map(({ part, person }, at) => (
    <Fragment key={at}>
      {person && <b className={css.mention}>@{person.user.name}</b>}
      {person ? part.slice(person.user.name.length + 1) : part}
    </Fragment>
  ));
}

/** What is typed after an @ up to the caret. */
const ASKED = /(?:^|\s)@([\p{L}\p{N}'.-]*(?: [\p{L}\p{N}'.-]*)?)$/u;
const MOST = 6;

export function Composer(about: About) {
  const [text, setText, discard] = useDraft(`comment:${about.entityType}:${about.entityId}`, '');
  const [files, setFiles] = useState<File[]>([]);
  const { view } = useView();
  const people = usePeople();
  const [busy, setBusy] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const [asked, setAsked] = useState<string>();
  const list = useCombobox({ onDropdownClose: () => list.resetSelectedOption() });
  const found =
    asked === undefined
      ? []
      : people.active.filter(({ user }) => user.name.toLowerCase().includes(asked.toLowerCase())).slice(0, MOST);

  function look() {
    const typed = box.current?.value.slice(0, box.current.selectionStart) ?? '';
    const next = ASKED.exec(typed)?.[1];
    setAsked(next);
    if (next === undefined) return list.closeDropdown();
    list.openDropdown();
    list.selectFirstOption();
  }

  function mention(id: string) {
    const name = people.name(id);
    if (!name || !box.current || asked === undefined) return;
    const caret = box.current.selectionStart;
    const start = caret - asked.length;
    setText(`${text.slice(0, start)}${name} ${text.slice(caret)}`);
    setAsked(undefined);
    list.closeDropdown();
    requestAnimationFrame(() => box.current?.setSelectionRange(start + name.length + 1, start + name.length + 1));
  }

  async function send() {
    if (text.trim() === '' || busy) return;
    setBusy(true);
    try {
      const mentions = pieces(text, people.active).flatMap(({ person }) => person?.id ?? []);
      const attachments = await Promise.all(
        files.map(async (file) => ({
          fileName: file.name,
          fileType: file.type || 'application/octet-stream',
          fileData: await base64(file),
        })),
      );
      const body = { ...about, content: text.trim(), ...(mentions[0] && { mentions }), ...(attachments[0] && { attachments }) };
      await api.POST('/v1/comments', { body });
      discard();
      setFiles([]);
      await refetch('/v1/comments');
    } catch (problem) {
      toast(words(problem), { bad: true });
    } finally {
      setBusy(false);
    }
  }

  return (
    <div className={css.composer}>
      <Combobox store={list} onOptionSubmit={mention} position="top-start" shadow="md">
        <Combobox.DropdownTarget>
          <Combobox.EventsTarget>
            <Textarea
              ref={box}
              autoFocus={view.to === 'comment'}
              aria-label={t.record.commentLabel}
              placeholder={t.record.commentPlaceholder}
              autosize
              minRows={1}
              maxRows={6}
              value={text}
              onChange={(event) => {
                setText(event.currentTarget.value);
                look();
              }}
              onBlur={() => list.closeDropdown()}
              onKeyDown={(event) => {
                if (event.key === 'Escape' && list.dropdownOpened && found.length > 0) {
                  // The list closes, and nothing around it.
                  event.stopPropagation();
                  list.closeDropdown();
                  setAsked(undefined);
                }
                if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void send();
              }}
            />
          </Combobox.EventsTarget>
        </Combobox.DropdownTarget>
        <Combobox.Dropdown hidden={found.length === 0}>
          <Combobox.Options aria-label={t.record.mention}>
            {found.map(({ id, user }) => (
              <Combobox.Option key={id} value={id}>
                {user.name}
              </Combobox.Option>
            ))}
          </Combobox.Options>
        </Combobox.Dropdown>
      </Combobox>
      <ActionIcon size={36} aria-label={t.record.attachToComment} onClick={() => chooser.current?.click()}>
        <IconPaperclip size={17} stroke={1.6} />
      </ActionIcon>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label={t.record.attachToComment}
        onChange={(event) => {
          setFiles([...files, ...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
      <Button variant="default" onClick={() => void send()} loading={busy}>
        {t.record.comment}
      </Button>
      {files.length > 0 && (
        <ul className={css.chosen}>
          {files.map((file, at) => (
            <li key={at}>
              {file.name}
              <CloseButton
                size="xs"
                aria-label={t.record.leaveOut(file.name)}
                onClick={() => setFiles(files.filter((one) => one !== file))}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
