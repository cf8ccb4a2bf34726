import { Alert, Button, Modal, Select, TextInput } from '@mantine/core';
import { IconArrowLeft, IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useMemo, useState } from 'react';
import { api, type Schemas } from '../api/client';
import { useList } from '../api/lists';
import { usePeople } from '../api/people';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { SectionError } from '../parts/ErrorPage';
import { useView } from '../parts/search';
import { t } from '../texts';
import type { Node } from './content';
import { choices } from './fields';
import { Lines } from './Lines';
import { useTemplate, useTemplates } from './queries';
import css from './Templates.module.css';
import { Text } from './Text';

type Template = Schemas['PolicyTemplate'];

/** The policies that ship with the product: find one, read it, make it one's own. */
export function Templates() {
  const { view, change: go } = useView();
  const { data, error, refetch: again } = useTemplates(true);
  const used = new Set(useList('/v1/policies', {}).rows.map(({ policyTemplateId }) => policyTemplateId));
  const [looked, setLooked] = useState('');
  const close = () => void go({ templates: undefined, template: undefined }, { replace: true });
  const found = useMemo(() => {
    const text = looked.trim().toLowerCase();
    const fits = (one: Template) => [one.name, one.description, ...one.topics].some((word) => word.toLowerCase().includes(text));
    return (data?.data ?? []).filter(fits);
  }, [data, looked]);
  const chosen = view.template ?? found[0]?.id;

  return (
    <Modal
      opened
      onClose={close}
      size={1080}
      title={t.policies.templates}
      closeButtonProps={{ 'aria-label': t.actions.close }}
      classNames={{ content: css.modal, body: css.body }}
    >
      <div className={css.gallery} data-chosen={view.template !== undefined || undefined}>
        <div className={css.list}>
          <TextInput
            aria-label={t.policies.findTemplate}
            placeholder={t.policies.findTemplate}
            leftSection={<IconSearch size={14} stroke={1.7} />}
            value={looked}
            data-autofocus
            onChange={(event) => setLooked(event.currentTarget.value)}
          />
          {error && <SectionError error={error} onRetry={() => void again()} />}
          {data && found.length === 0 && <p className={css.none}>{t.policies.noTemplate}</p>}
          <ul>
            {found.map((one) => (
              <li key={one.id}>
                <button
                  type="button"
                  className={`plain ${css.template}`}
                  aria-current={one.id === chosen || undefined}
                  onClick={() => void go({ template: one.id }, { replace: true })}
                >
                  <b>{one.name}</b>
                  <small>{one.description}</small>
                  {used.has(one.id) && <small className={css.used}>{t.policies.used}</small>}
                </button>
              </li>
            ))}
          </ul>
        </div>
        {chosen && (
          <Preview key={chosen} id={chosen} onBack={() => void go({ template: undefined }, { replace: true })} onClose={close} />
        )}
      </div>
    </Modal>
  );
}

/** The places of a template as they will be filled. */
function filled(nodes: Node[], places: Record<string, string>): Node[] {
  return nodes.map((node) => ({
    ...node,
    ...(node.text === undefined ? {} : { text: node.text.replace(/\{\{(\w+)\}\}/g, (all, name) => places[name] || all) }),
    ...(node.content ? { content: filled(node.content, places) } : {}),
  }));
}

function Preview({ id, onBack, onClose }: { id: string; onBack: () => void; onClose: () => void }) {
  const { data, error, refetch: again } = useTemplate(id);
  const { can, user, membership } = useMe();
  const people = usePeople();
  const navigate = useNavigate();
  const [values, setValues] = useState<Partial<Schemas['CreatePolicyFromTemplate']>>({});
  const [isMaking, setMaking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const set = (next: typeof values) => setValues((old) => ({ ...old, ...next }));

  async function make(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      const body = Object.fromEntries(Object.entries(values).filter(([, value]) => value));
      const { data: made } = await api.POST('/v1/policies/from-template', { body: { ...body, templateId: id } });
      await refetch('/v1/policies');
      onClose();
      if (made) void navigate({ to: `/policies/${made.id}` as string });
    } catch (error) {
      setProblem(words(error));
    } finally {
      setBusy(false);
    }
  }

  if (error) return <SectionError error={error} onRetry={() => void again()} />;
  if (!data)
    return (
      <div className={css.preview}>
        <div className={css.paper}>
          <Lines />
        </div>
      </div>
    );
  const frequency = values.frequency ?? data.frequency;
  const places = {
    organization: membership?.name ?? '',
    contact: values.contact || user?.email || '',
    reviewPeriod: t.policies.frequency[frequency].toLowerCase(),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
  return (
    <article className={css.preview} aria-label={data.name}>
      <button type="button" className={`plain ${css.back}`} onClick={onBack}>
        <IconArrowLeft size={16} stroke={1.6} />
        {t.policies.templates}
      </button>
      <div className={css.head}>
        <div>
          <h2>{data.name}</h2>
          <p className="t3">
            {t.departments[data.department]} · {t.policies.frequency[data.frequency]}
          </p>
        </div>
        {can('policy:create') && !isMaking && <Button onClick={() => setMaking(true)}>{t.policies.useTemplate}</Button>}
      </div>
      {isMaking && (
        <form className={css.form} onSubmit={(event) => void make(event)}>
          {problem && (
            <Alert color="red" variant="light" role="alert">
              {problem}
            </Alert>
          )}
          <TextInput
            label={t.policies.fields.name}
            placeholder={data.name}
            value={values.name ?? ''}
            autoFocus
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
          <TextInput
            label={t.policies.contact}
            placeholder={user?.email}
            value={values.contact ?? ''}
            onChange={(event) => set({ contact: event.currentTarget.value })}
          />
          <Select
            label={`${t.policies.fields.assigneeId} ${t.forms.optional}`}
            data={people.active.map((one) => ({ value: one.id, label: one.user.name }))}
            value={values.assigneeId ?? null}
            clearable
            searchable
            onChange={(next) => set({ assigneeId: next ?? undefined })}
          />
          <Select
            label={t.policies.fields.frequency}
            data={choices(t.policies.frequency)}
            value={frequency}
            allowDeselect={false}
            onChange={(next) => set({ frequency: (next as Template['frequency']) ?? undefined })}
          />
          <div className={css.formActions}>
            <Button variant="default" onClick={() => setMaking(false)}>
              {t.actions.cancel}
            </Button>
            <Button type="submit" loading={busy}>
              {t.policies.create}
            </Button>
          </div>
        </form>
      )}
      <div className={css.paper} tabIndex={0} role="region" aria-label={t.policies.preview}>
        <Text nodes={filled(data.content, places)} />
      </div>
    </article>
  );
}
