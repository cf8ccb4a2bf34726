import { Button, Checkbox, Select, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { $api, api, type Schemas } from '../api/client';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { useConfirm } from '../parts/confirm';
import { useDraft } from '../parts/drafts';
import { moment } from '../parts/format';
import { Panel } from '../parts/Panel';
import { StatusPill } from '../parts/StatusPill';
import { useView } from '../parts/search';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { FormBody, useForm } from './form';
import { Fetched, Head, Section } from './Section';
import css from './settings.module.css';

type Channel = Schemas['ChatChannel'];
type Notice = Channel['notices'][number];

const PATH = '/v1/chat-channels' as const;
const NOTICES: Notice[] = ['assigned', 'dueSoon', 'overdue', 'automations', 'policies', 'portal'];
/** The result of a test has no event. */
const TEST_POLL_MS = 1_000;
const TEST_TIMEOUT_MS = 60_000;

/** A test message on its way: what was the last delivery when it was sent. */
type Test = { before: string | undefined; sentAt: number };

export function ChatChannels() {
  const { view, change } = useView();
  const { can } = useMe();
  const [tests, setTests] = useState<Record<string, Test>>({});
  const isPending = ({ id, lastDelivery }: Channel) => {
    const test = tests[id];
    return test !== undefined && lastDelivery?.at === test.before && Date.now() - test.sentAt < TEST_TIMEOUT_MS;
  };
  const channels = $api.useQuery(
    'get',
    PATH,
    {},
    { refetchInterval: ({ state }) => (state.data?.data.some(isPending) ? TEST_POLL_MS : false) },
  );
  const texts = t.settings.chat;
  const mayChange = can('organization:update');
  const close = () => void change({ new: undefined, open: undefined }, { replace: true });
  const edited = channels.data?.data.find(({ id }) => id === view.open);

  async function test({ id, lastDelivery }: Channel) {
    setTests((old) => ({ ...old, [id]: { before: lastDelivery?.at, sentAt: Date.now() } }));
    try {
      await api.POST('/v1/chat-channels/{channelId}/test', { params: { path: { channelId: id } } });
    } catch (problem) {
      setTests(({ [id]: _, ...others }) => others);
      toast(words(problem), { bad: true });
    }
    await refetch(PATH);
  }

  return (
    <Section
      title={t.settings.sections.chat}
      lead={texts.lead}
      actions={
        mayChange && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => void change({ new: 'yes' })}>
            {texts.add}
          </Button>
        )
      }
    >
      <Fetched of={channels}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="t3">{texts.none}</p>
          ) : (
            <table className={css.table}>
              <caption className="hidden-visually">{t.settings.sections.chat}</caption>
              <Head columns={[texts.columns.name, texts.columns.notices, texts.columns.last]} />
              <tbody>
                {data.map((channel) => (
                  <Line
                    key={channel.id}
                    channel={channel}
                    isTesting={isPending(channel)}
                    onTest={() => void test(channel)}
                    onEdit={() => void change({ open: channel.id })}
                  />
                ))}
              </tbody>
            </table>
          )
        }
      </Fetched>
      {mayChange && view.new && <Form onClose={close} />}
      {mayChange && edited && <Form key={edited.id} known={edited} onClose={close} />}
    </Section>
  );
}

type LineProps = { channel: Channel; isTesting: boolean; onTest: () => void; onEdit: () => void };

function Line({ channel, isTesting, onTest, onEdit }: LineProps) {
  const { id, name } = channel;
  const { can } = useMe();
  const { ask, dialog } = useConfirm();
  const texts = t.settings.chat;
  const remove = async () => {
    await api.DELETE('/v1/chat-channels/{channelId}', { params: { path: { channelId: id } } });
    await refetch(PATH);
    toast(texts.deleted(name));
  };
  return (
    <tr>
      <td data-label={texts.columns.name}>
        <b>{name}</b> {!channel.isActive && <StatusPill label={texts.off} tone="mute" shape="dash" />}
        <span className={css.answer}>
          {texts.kinds[channel.kind]} <span className="mono">{channel.urlHint}</span>
        </span>
      </td>
      <td data-label={texts.columns.notices} className="t2">
        {channel.notices.map((notice) => t.inbox.kinds[notice]).join(', ')}
      </td>
      <td data-label={texts.columns.last} aria-live="polite">
        {isTesting ? <span className="t2">{texts.sending}</span> : <Delivery of={channel.lastDelivery} />}
      </td>
      <td data-align="right">
        {can('organization:update') && (
          <>
            <Button size="xs" variant="subtle" aria-label={texts.testOf(name)} disabled={isTesting} onClick={onTest}>
              {texts.test}
            </Button>
            <Button size="xs" variant="subtle" aria-label={texts.editOf(name)} onClick={onEdit}>
              {t.actions.edit}
            </Button>
            <Button
              size="xs"
              variant="subtle"
              aria-label={texts.deleteOf(name)}
              onClick={() => ask({ title: texts.deleteAsk(name), text: texts.deleteText, verb: t.actions.delete, act: remove })}
            >
              {t.actions.delete}
            </Button>
          </>
        )}
        {dialog}
      </td>
    </tr>
  );
}

function Delivery({ of: last }: { of: Channel['lastDelivery'] }) {
  const texts = t.settings.chat;
  if (!last) return <span className="t3">{texts.never}</span>;
  const when = moment(last.at);
  if (last.isDelivered) return <StatusPill label={texts.delivered(when)} tone="ok" shape="check" />;
  return (
    <>
      <StatusPill label={texts.failed(when)} tone="bad" shape="cross" />
      <span className={css.answer}>{last.detail}</span>
    </>
  );
}

type Typed = { name: string; kind: Channel['kind']; notices: Notice[]; isActive: boolean };
const NONE: Typed = { name: '', kind: 'slack', notices: NOTICES, isActive: true };

/** The address is a secret, so it is never part of a draft. */
function Form({ known, onClose }: { known?: Channel; onClose: () => void }) {
  const texts = t.settings.chat;
  const [draft, setDraft, discard] = useDraft<Typed>(`chat-channel:${known?.id ?? 'new'}`, known ?? NONE);
  const [url, setUrl] = useState('');
  const set = (patch: Partial<Typed>) => {
    const { name, kind, notices, isActive } = { ...draft, ...patch };
    setDraft({ name, kind, notices, isActive });
  };
  const form = useForm(['name', 'kind', 'url', 'notices'], async () => {
    if (draft.notices.length === 0) return form.setErrors({ notices: texts.noNotice });
    const { name, kind, notices, isActive } = draft;
    if (known) {
      const body = { name, kind, notices, isActive, ...(url.trim() && { url: url.trim() }) };
      await api.PATCH('/v1/chat-channels/{channelId}', { params: { path: { channelId: known.id } }, body });
    } else await api.POST(PATH, { body: { name, kind, notices, url: url.trim() } });
    discard();
    await refetch(PATH);
    toast(texts.saved(name));
    onClose();
  });

  return (
    <Panel title={known ? texts.edit : texts.add} onClose={onClose}>
      <FormBody
        form={form}
        verb={known ? t.actions.save : texts.add}
        isReady={draft.name.trim() !== '' && (known !== undefined || url.trim() !== '')}
        cancel={{
          label: t.actions.cancel,
          onClick: () => {
            discard();
            onClose();
          },
        }}
      >
        <TextInput
          label={texts.name}
          placeholder={texts.namePlaceholder}
          value={draft.name}
          error={form.errors.name}
          data-autofocus
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        <Select
          label={texts.kind}
          description={texts.kindHelp}
          data={Object.entries(texts.kinds).map(([value, label]) => ({ value, label }))}
          value={draft.kind}
          error={form.errors.kind}
          allowDeselect={false}
          onChange={(kind) => kind && set({ kind: kind as Channel['kind'] })}
        />
        <TextInput
          label={`${texts.url}${known ? ` ${t.forms.optional}` : ''}`}
          description={`${known ? texts.urlKeep(known.urlHint) : texts.urlHelp[draft.kind]} ${texts.urlSecret}`}
          type="url"
          value={url}
          error={form.errors.url}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setUrl(event.currentTarget.value)}
        />
        <Checkbox.Group
          label={texts.notices}
          error={form.errors.notices}
          value={draft.notices}
          onChange={(next) => set({ notices: NOTICES.filter((notice) => next.includes(notice)) })}
        >
          <div className={css.boxes}>
            {NOTICES.map((notice) => (
              <Checkbox key={notice} value={notice} label={t.inbox.kinds[notice]} />
            ))}
          </div>
        </Checkbox.Group>
        {known && (
          <Checkbox
            label={texts.isActive}
            checked={draft.isActive}
            onChange={(event) => set({ isActive: event.currentTarget.checked })}
          />
        )}
      </FormBody>
    </Panel>
  );
}
