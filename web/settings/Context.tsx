import { Alert, Button, Select, Textarea, TextInput } from '@mantine/core';
import { IconPlus, IconTableImport } from '@tabler/icons-react';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Schemas } from '../api/client';
import { usePeople } from '../api/people';
import { Problem } from '../api/problem';
import { refetch } from '../api/query';
import { fetchRecord, useRecord, type Versioned } from '../api/records';
import { useMe } from '../api/session';
import { useConfirm } from '../parts/confirm';
import { EmptyState } from '../parts/EmptyState';
import { ExportMenu } from '../parts/ExportMenu';
import { day } from '../parts/format';
import { Panel } from '../parts/Panel';
import { Import } from '../parts/register/Import';
import { SearchInput } from '../parts/SearchInput';
import { useView } from '../parts/search';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { FormBody, useForm } from './form';
import { Fetched, Section } from './Section';
import css from './settings.module.css';

type Fact = Schemas['ContextEntryView'];
const PATH = '/v1/context' as const;

function useFacts(q: string | undefined) {
  return useInfiniteQuery({
    queryKey: ['rows', PATH, q ?? null],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam: cursor }) => {
      const query = { q, cursor, limit: 100, sort: 'question', order: 'asc' } as const;
      return (await api.GET(PATH, { params: { query } })).data;
    },
    getNextPageParam: (page) => page?.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

/** What is known of the organization: questions and true answers. */
export function Context() {
  const { view, change } = useView();
  const { can } = useMe();
  const facts = useFacts(view.q);
  const texts = t.settings.context;
  const mayAdd = can('context:create');
  const close = () => void change({ new: undefined, open: undefined, import: undefined }, { replace: true });
  const add = () => void change({ new: 'yes' });
  const read = () => void change({ import: 'yes' });
  const all = facts.data?.pages.flatMap((page) => page?.data ?? []);
  const isEmpty = all?.length === 0 && !view.q;
  return (
    <Section
      title={texts.title}
      lead={texts.lead}
      actions={
        <>
          {!isEmpty && <ExportMenu path={`${PATH}/export`} />}
          {mayAdd && (
            <Button variant="default" leftSection={<IconTableImport size={16} stroke={1.6} />} onClick={read}>
              {t.actions.import}
            </Button>
          )}
          {mayAdd && (
            <Button leftSection={<IconPlus size={16} />} onClick={add}>
              {texts.new}
            </Button>
          )}
        </>
      }
    >
      {!isEmpty && (
        <div className={css.bar}>
          <SearchInput value={view.q} onChange={(q) => void change({ q }, { replace: true })} width={220} />
          <span className="t3" aria-live="polite">
            {all && !facts.hasNextPage && texts.count(all.length)}
          </span>
        </div>
      )}
      <Fetched of={{ data: all, error: facts.error, refetch: facts.refetch }}>
        {(rows) =>
          isEmpty ? (
            <Empty mayAdd={mayAdd} onAdd={add} onImport={read} />
          ) : rows.length === 0 ? (
            <p className="t3">{t.filters.nothing}</p>
          ) : (
            <Facts rows={rows} onOpen={(id) => void change({ open: id })} />
          )
        }
      </Fetched>
      {facts.hasNextPage && (
        <Button variant="subtle" onClick={() => void facts.fetchNextPage()} loading={facts.isFetchingNextPage}>
          {texts.more}
        </Button>
      )}
      {view.new && mayAdd && <Form onClose={close} />}
      {view.open && <Open key={view.open} id={view.open} onClose={close} />}
      {view.import && mayAdd && <Import d={importable()} onClose={close} />}
    </Section>
  );
}

function importable() {
  const { fields, new: add, one, many } = t.settings.context;
  const names = Object.keys(fields).map((name) => ({ name, kind: 'text' as const }));
  return { path: PATH, nameField: 'question', labels: fields, fields: names, texts: { new: add, one, many } };
}

function Facts({ rows, onOpen }: { rows: Fact[]; onOpen: (id: string) => void }) {
  const { columns } = t.settings.context;
  return (
    <table className={css.table}>
      <caption className="hidden-visually">{t.settings.context.title}</caption>
      <thead>
        <tr>
          <th scope="col">{columns.question}</th>
          <th scope="col">{columns.tags}</th>
          <th scope="col">{columns.review}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, question, answer, tags, reviewDate }) => (
          <tr key={id}>
            <td>
              <button type="button" className="plain" onClick={() => onOpen(id)}>
                <b>{question}</b>
                <span className={css.answer}>{answer || t.edits.none}</span>
              </button>
            </td>
            <td>
              <span className={css.tags}>
                {tags.map((tag) => (
                  <span key={tag} className={css.tag}>
                    {tag}
                  </span>
                ))}
              </span>
            </td>
            <td className="t2">{reviewDate && day(reviewDate)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Empty({ mayAdd, onAdd, onImport }: { mayAdd: boolean; onAdd: () => void; onImport: () => void }) {
  const texts = t.settings.context;
  const ways = [
    { icon: <IconPlus size={18} stroke={1.6} />, label: texts.new, hint: texts.emptyHint, onPick: onAdd },
    { icon: <IconTableImport size={18} stroke={1.6} />, label: t.actions.import, hint: texts.importHint, onPick: onImport },
  ];
  return <EmptyState title={texts.emptyTitle} lead={texts.emptyLead} ways={mayAdd ? ways : []} />;
}

function Open({ id, onClose }: { id: string; onClose: () => void }) {
  const { data, error, refetch: again } = useRecord(PATH, id);
  if (data) return <Form known={data} onClose={onClose} />;
  return <Sheet title={t.settings.context.edit} onClose={onClose} of={{ data: undefined, error, refetch: again }} />;
}

type SheetProps = { title: string; onClose: () => void; of?: { data: undefined; error: unknown; refetch: () => unknown } };

function Sheet({ title, onClose, of, children }: SheetProps & { children?: React.ReactNode }) {
  return (
    <Panel title={title} onClose={onClose}>
      {of ? <Fetched of={of}>{() => null}</Fetched> : children}
    </Panel>
  );
}

/** A fact to add, or one to change with the version that was read. */
function Form({ known, onClose }: { known?: Versioned<Fact>; onClose: () => void }) {
  const texts = t.settings.context;
  const people = usePeople();
  const { can } = useMe();
  const { ask, dialog } = useConfirm();
  const fact = known?.data;
  const [values, setValues] = useState({
    question: fact?.question ?? '',
    answer: fact?.answer ?? '',
    tags: fact?.tags.join(', ') ?? '',
    assigneeId: fact?.assigneeId ?? null,
    reviewDate: fact?.reviewDate ?? null,
  });
  const [version, setVersion] = useState(known?.version);
  const [theirs, setTheirs] = useState<Fact>();
  const mayChange = fact ? can('context:update') : can('context:create');
  const set = (patch: Partial<typeof values>) => setValues((old) => ({ ...old, ...patch }));

  const form = useForm(['question', 'answer', 'tags', 'assigneeId', 'reviewDate'], async () => {
    const tags = values.tags.split(',').map((tag) => tag.trim());
    const body = { ...values, tags: tags.filter((tag) => tag !== '') };
    if (!fact) await api.POST(PATH, { body });
    else
      try {
        const header = version ? { 'If-Match': version } : {};
        await api.PATCH('/v1/context/{id}', { params: { path: { id: fact.id }, header }, body });
      } catch (problem) {
        if (!(problem instanceof Problem && problem.isConflict)) throw problem;
        const now = await fetchRecord(PATH, fact.id);
        setVersion(now.version);
        setTheirs(now.data);
        return;
      }
    await refetch(PATH);
    toast(texts.saved);
    onClose();
  });

  const remove = async () => {
    if (!fact) return;
    await api.DELETE('/v1/context/{id}', { params: { path: { id: fact.id } } });
    onClose();
    await refetch(PATH);
    toast(texts.deleted(fact.reference));
  };

  return (
    <Sheet title={fact ? `${fact.reference} ${texts.edit}` : texts.new} onClose={onClose}>
      <FormBody
        form={form}
        verb={theirs ? texts.overwrite : t.actions.save}
        isReady={mayChange}
        cancel={{ label: t.actions.cancel, onClick: onClose }}
      >
        {theirs && (
          <Alert color="yellow" variant="light" role="alert">
            <p>{texts.conflict}</p>
            <p>
              <b>{theirs.question}</b> {theirs.answer}
            </p>
          </Alert>
        )}
        <TextInput
          label={texts.fields.question}
          value={values.question}
          error={form.errors.question}
          readOnly={!mayChange}
          data-autofocus
          onChange={(event) => set({ question: event.currentTarget.value })}
        />
        <Textarea
          label={texts.fields.answer}
          description={texts.answerHelp}
          value={values.answer}
          error={form.errors.answer}
          readOnly={!mayChange}
          autosize
          minRows={3}
          onChange={(event) => set({ answer: event.currentTarget.value })}
        />
        <TextInput
          label={`${texts.fields.tags} ${t.forms.optional}`}
          description={texts.tagsHelp}
          value={values.tags}
          error={form.errors.tags}
          readOnly={!mayChange}
          onChange={(event) => set({ tags: event.currentTarget.value })}
        />
        <Select
          label={`${texts.fields.assigneeId} ${t.forms.optional}`}
          data={people.active.map(({ id, user }) => ({ value: id, label: user.name }))}
          value={values.assigneeId}
          error={form.errors.assigneeId}
          readOnly={!mayChange}
          searchable
          clearable
          onChange={(assigneeId) => set({ assigneeId })}
        />
        <TextInput
          type="date"
          label={`${texts.fields.reviewDate} ${t.forms.optional}`}
          value={values.reviewDate ?? ''}
          error={form.errors.reviewDate}
          readOnly={!mayChange}
          onChange={(event) => set({ reviewDate: event.currentTarget.value || null })}
        />
        {fact && can('context:delete') && (
          <Button
            variant="subtle"
            className={css.danger}
            onClick={() =>
              ask({
                title: texts.deleteAsk(fact.reference),
                text: texts.deleteText,
                verb: t.actions.delete,
                act: remove,
              })
            }
          >
            {t.actions.delete}
          </Button>
        )}
      </FormBody>
      {dialog}
    </Sheet>
  );
}
