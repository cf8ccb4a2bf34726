import { ActionIcon, Alert, Button, Checkbox, Modal, Textarea, TextInput } from '@mantine/core';
import { IconPencil, IconPlus, IconTrash } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { api } from '../api/client';
import { useList } from '../api/lists';
import { Problem, words } from '../api/problem';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { useConfirm } from '../parts/confirm';
import { EmptyState } from '../parts/EmptyState';
import { SectionError } from '../parts/ErrorPage';
import { day } from '../parts/format';
import { StatusPill } from '../parts/StatusPill';
import { useView } from '../parts/search';
import { useShortcuts } from '../parts/shortcuts';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { Waiting } from './Page';
import { PORTAL, type Post } from './queries';
import css from './trust.module.css';

type Kind = Post['kind'];

/** News, or questions with their answers. */
export function Posts({ kind, subscribers }: { kind: Kind; subscribers: number }) {
  const { view, change } = useView();
  const { can } = useMe();
  const list = useList('/v1/trust-portal/posts', { kind });
  const texts = t.trust.posts[kind];
  const mayChange = can('trust-portal:update');
  const edited = view.open === 'new' ? undefined : list.rows.find(({ id }) => id === view.open);
  const add = () => void change({ open: 'new' });
  useShortcuts({ n: mayChange ? add : undefined });
  if (list.error) return <SectionError error={list.error} onRetry={() => void list.refetch()} />;
  if (list.isPending) return <Waiting />;
  const icon = <IconPlus size={16} />;
  return (
    <>
      {list.rows.length === 0 ? (
        <EmptyState
          title={texts.empty}
          lead={texts.lead}
          ways={mayChange ? [{ icon, label: texts.new, hint: texts.hint, keys: 'N', onPick: add }] : []}
        />
      ) : (
        <div className={css.panel}>
          <div className={css.toolbar}>
            <p className={css.lead}>{texts.lead}</p>
            {mayChange && (
              <Button variant="default" leftSection={icon} onClick={add}>
                {texts.new}
              </Button>
            )}
          </div>
          <ul className={css.posts}>
            {list.rows.map((post) => (
              <Row key={post.id} post={post} subscribers={subscribers} mayChange={mayChange} />
            ))}
          </ul>
          {list.hasNextPage && (
            <Button variant="default" mt={16} loading={list.isFetchingNextPage} onClick={list.more}>
              {t.record.loadMore}
            </Button>
          )}
        </div>
      )}
      {mayChange && (view.open === 'new' || edited) && (
        <Editor key={view.open} kind={kind} post={edited} onClose={() => void change({ open: undefined }, { replace: true })} />
      )}
    </>
  );
}

const patch = (post: Post, body: { isPublished: boolean }) =>
  api.PATCH('/v1/trust-portal/posts/{id}', { params: { path: { id: post.id } }, body }).then(() => refetch(`${PORTAL}/posts`));

function Row({ post, subscribers, mayChange }: { post: Post; subscribers: number; mayChange: boolean }) {
  const { change } = useView();
  const { ask, dialog } = useConfirm();
  const texts = t.trust.posts;
  const own = texts[post.kind];
  // News go out by mail once; nothing else about a post cannot be taken back.
  const isMailed = post.kind === 'update' && post.publishedAt === null;
  const turn = async (isPublished: boolean) => {
    await patch(post, { isPublished });
    toast(isPublished ? texts.wasPublished : texts.wasHidden, { undo: isMailed ? undefined : () => turn(!isPublished) });
  };
  const tell = (act: Promise<unknown>) => void act.catch((problem) => toast(words(problem), { bad: true }));
  const publish = () =>
    isMailed
      ? ask({ title: own.publishAsk, text: own.publishText(subscribers), verb: texts.publish, act: () => turn(true) })
      : tell(turn(true));
  const remove = () =>
    ask({
      title: own.deleteAsk(post.title),
      text: texts.deleteText,
      verb: texts.deleteVerb,
      act: async () => {
        await api.DELETE('/v1/trust-portal/posts/{id}', { params: { path: { id: post.id } } });
        await refetch(`${PORTAL}/posts`);
      },
    });
  return (
    <li className={css.post}>
      <div>
        <h2>{post.title}</h2>
        {post.text && <p className={css.body}>{post.text}</p>}
        <div className={css.meta}>
          <StatusPill
            label={post.isPublished ? texts.published : texts.draft}
            tone={post.isPublished ? 'ok' : 'mute'}
            shape={post.isPublished ? 'check' : 'dash'}
          />
          {post.isPublished && post.publishedAt && <span>{texts.at(day(post.publishedAt.slice(0, 10)))}</span>}
        </div>
      </div>
      {mayChange && (
        <div className={css.icons}>
          <Button
            size="xs"
            variant="default"
            aria-label={post.isPublished ? texts.unpublishName(post.title) : texts.publishName(post.title)}
            onClick={() => (post.isPublished ? tell(turn(false)) : publish())}
          >
            {post.isPublished ? texts.unpublish : texts.publish}
          </Button>
          <ActionIcon aria-label={texts.edit(post.title)} onClick={() => void change({ open: post.id })}>
            <IconPencil size={16} stroke={1.6} />
          </ActionIcon>
          <ActionIcon aria-label={texts.delete(post.title)} onClick={remove}>
            <IconTrash size={16} stroke={1.6} />
          </ActionIcon>
        </div>
      )}
      {dialog}
    </li>
  );
}

function Editor({ kind, post, onClose }: { kind: Kind; post: Post | undefined; onClose: () => void }) {
  const texts = t.trust.posts;
  const own = texts[kind];
  const [title, setTitle] = useState(post?.title ?? '');
  const [text, setText] = useState(post?.text ?? '');
  const [isPublished, setPublished] = useState(false);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [general, setGeneral] = useState<string>();
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    setErrors({});
    setGeneral(undefined);
    try {
      if (post) await api.PATCH('/v1/trust-portal/posts/{id}', { params: { path: { id: post.id } }, body: { title, text } });
      else await api.POST('/v1/trust-portal/posts', { body: { kind, title, text, isPublished } });
      await refetch(`${PORTAL}/posts`);
      toast(texts.saved);
      onClose();
    } catch (error) {
      if (error instanceof Problem) {
        setErrors(error.fields());
        setGeneral(error.rest(['title', 'text']));
      } else setGeneral(words(error));
    } finally {
      setBusy(false);
    }
  }

  const name = post ? texts.edit(own.one) : own.new;
  return (
    <Modal opened onClose={onClose} title={name} size="lg" centered closeButtonProps={{ 'aria-label': t.actions.close }}>
      <form noValidate className={css.ask} onSubmit={(event) => void submit(event)}>
        {general && (
          <Alert color="red" variant="light" role="alert">
            {general}
          </Alert>
        )}
        <TextInput
          label={own.title}
          value={title}
          error={errors.title}
          data-autofocus
          onChange={(event) => setTitle(event.currentTarget.value)}
        />
        <Textarea
          label={`${own.text} ${t.forms.optional}`}
          value={text}
          error={errors.text}
          autosize
          minRows={5}
          maxRows={18}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        {!post && (
          <Checkbox
            label={texts.now}
            description={kind === 'update' ? texts.nowUpdate : undefined}
            checked={isPublished}
            onChange={(event) => setPublished(event.currentTarget.checked)}
          />
        )}
        <div className={css.buttons}>
          <Button variant="default" onClick={onClose}>
            {t.actions.cancel}
          </Button>
          <Button type="submit" loading={busy}>
            {isPublished ? texts.publish : t.actions.save}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
