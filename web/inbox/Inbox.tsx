import { ActionIcon, Button } from '@mantine/core';
import { IconChecks, IconMail, IconMailOpened } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type InboxItem, mark, markUpTo, useInbox, useUnread } from '../api/inbox';
import { usePeople } from '../api/people';
import { words } from '../api/problem';
import { useMe } from '../api/session';
import { EmptyState } from '../parts/EmptyState';
import { MissingPage } from '../parts/ErrorPage';
import { moment, utc } from '../parts/format';
import { Glyph } from '../parts/glyphs';
import { ListPage } from '../parts/list/ListPage';
import type { Column } from '../parts/list/Table';
import { Person } from '../parts/Person';
import { useView } from '../parts/search';
import { toast } from '../parts/toast';
import { t } from '../texts';
import css from './inbox.module.css';
import { addressOf, told } from './told';

export function Inbox() {
  const { can } = useMe();
  return can('profile:read') ? <Items /> : <MissingPage />;
}

const fail = (problem: unknown) => toast(words(problem), { bad: true });
const set = (items: InboxItem[], isRead: boolean) => void mark(items, isRead).catch(fail);

/** What the reader was notified of, newest first. */
function Items() {
  const { view, change: go } = useView();
  const { can, memberId } = useMe();
  const people = usePeople();
  const navigate = useNavigate();
  const { unread, newest, isEmpty } = useUnread();
  const list = useInbox({
    unread: view.unread === 'true' || undefined,
    kind: (view.kind || undefined) as InboxItem['kind'] | undefined,
  });
  const shown = useMemo(() => columns(people.name), [people.name]);
  const kinds = Object.entries(t.inbox.kinds).filter(([kind]) => kind !== 'portal' || can('trust-access:review'));
  const open = (item: InboxItem) => {
    set([item], true);
    void navigate({ href: addressOf(item, memberId) });
  };
  return (
    <ListPage
      title={t.inbox.title}
      facts={
        unread === undefined
          ? []
          : unread === 0
            ? [<span key="unread">{t.inbox.allRead}</span>]
            : [
                <button key="unread" type="button" className="plain link" onClick={() => void go({ unread: 'true' })}>
                  {t.inbox.unread(unread)}
                </button>,
              ]
      }
      actions={
        <Button
          variant="default"
          leftSection={<IconChecks size={16} stroke={1.6} />}
          disabled={!newest || !unread}
          onClick={() => newest && void markUpTo(newest).catch(fail)}
        >
          {t.inbox.markAll}
        </Button>
      }
      list={list}
      all={isEmpty ? 0 : undefined}
      filters={[
        { key: 'unread', label: t.inbox.filters.unread, values: [{ value: 'true', label: t.inbox.isUnread }] },
        { key: 'kind', label: t.inbox.filters.kind, values: kinds.map(([value, label]) => ({ value, label })) },
      ]}
      columns={shown}
      name={told}
      hrefOf={(item) => addressOf(item, memberId)}
      onOpen={open}
      bulk={(ids, onDone) => <Bulk items={list.rows.filter(({ id }) => ids.includes(id))} onDone={onDone} />}
      phone={(item) => ({
        title: <Text item={item} />,
        facts: (
          <>
            <span>{t.inbox.kinds[item.kind]}</span>
            {people.name(item.actorId) && <Person name={people.name(item.actorId)} short />}
            <time dateTime={item.createdAt}>{moment(item.createdAt)}</time>
          </>
        ),
        act: <Toggle item={item} size={44} />,
      })}
      empty={<EmptyState title={t.inbox.empty.title} lead={t.inbox.empty.lead} ways={[]} />}
    />
  );
}

type Names = (id: string | null | undefined) => string | undefined;

function columns(name: Names): Column<InboxItem>[] {
  const texts = t.inbox.columns;
  return [
    { key: 'text', header: texts.text, opens: true, render: (item) => <Text item={item} /> },
    {
      key: 'kind',
      priority: 2,
      header: texts.kind,
      width: 130,
      render: (item) => <span className="t2">{t.inbox.kinds[item.kind]}</span>,
    },
    {
      key: 'actorId',
      priority: 4,
      header: texts.actor,
      width: 150,
      render: (item) => <Person name={name(item.actorId) ?? t.record.system} short />,
    },
    {
      key: 'createdAt',
      priority: 3,
      header: texts.at,
      width: 130,
      align: 'right',
      render: (item) => (
        <time className="t2 num" dateTime={item.createdAt} title={utc(item.createdAt)}>
          {moment(item.createdAt)}
        </time>
      ),
    },
    { key: 'readAt', priority: 1, header: texts.read, width: 72, align: 'right', render: (item) => <Toggle item={item} /> },
  ];
}

/** Unread ones have a mark and weight, so that they stand out without colour. */
function Text({ item }: { item: InboxItem }) {
  return (
    <span className={css.text} data-unread={item.readAt === null || undefined}>
      {item.readAt === null && (
        <>
          <Glyph shape="full" tone="info" size={12} />
          <span className="hidden-visually">{t.inbox.isUnread}: </span>
        </>
      )}
      <span className={css.words}>{told(item)}</span>
    </span>
  );
}

function Toggle({ item, size }: { item: InboxItem; size?: number }) {
  const isRead = item.readAt !== null;
  const text = told(item);
  const Icon = isRead ? IconMail : IconMailOpened;
  return (
    <ActionIcon
      size={size}
      aria-label={isRead ? t.inbox.markUnreadOf(text) : t.inbox.markReadOf(text)}
      title={isRead ? t.inbox.markUnread : t.inbox.markRead}
      onClick={() => set([item], !isRead)}
    >
      <Icon size={16} stroke={1.6} />
    </ActionIcon>
  );
}

function Bulk({ items, onDone }: { items: InboxItem[]; onDone: () => void }) {
  const act = (isRead: boolean) => () => {
    set(items, isRead);
    onDone();
  };
  return (
    <>
      <Button size="xs" variant="subtle" onClick={act(true)}>
        {t.inbox.markRead}
      </Button>
      <Button size="xs" variant="subtle" onClick={act(false)}>
        {t.inbox.markUnread}
      </Button>
    </>
  );
}
