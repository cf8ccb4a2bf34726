import { ActionIcon, Button, Textarea } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { $api, api, type Schemas } from '../api/client';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { t } from '../texts';
import css from './Comments.module.css';
import { useDraft } from './drafts';
import { SectionError } from './ErrorPage';
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
            <p className={css.text}>{comment.content}</p>
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

export function Composer(about: About) {
  const [text, setText, discard] = useDraft(`comment:${about.entityType}:${about.entityId}`, '');
  const { view } = useView();
  const [busy, setBusy] = useState(false);
  async function send() {
    if (text.trim() === '' || busy) return;
    setBusy(true);
    try {
      await api.POST('/v1/comments', { body: { ...about, content: text.trim() } });
      discard();
      await refetch('/v1/comments');
    } catch (problem) {
      toast(words(problem), { bad: true });
    } finally {
      setBusy(false);
    }
  }
  return (
    <div className={css.composer}>
      <Textarea
        autoFocus={view.to === 'comment'}
        aria-label={t.record.commentLabel}
        placeholder={t.record.commentPlaceholder}
        autosize
        minRows={1}
        maxRows={6}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void send();
        }}
      />
      <Button variant="default" onClick={() => void send()} loading={busy}>
        {t.record.comment}
      </Button>
    </div>
  );
}
