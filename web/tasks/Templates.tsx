import { Alert, Button, Checkbox, TextInput } from '@mantine/core';
import { useState } from 'react';
import { $api, api, type Schemas } from '../api/client';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { SectionError } from '../parts/ErrorPage';
import { Panel } from '../parts/Panel';
import { toast } from '../parts/toast';
import { t } from '../texts';
import type { Task } from './fields';
import css from './List.module.css';

/** The templates that are no task yet; what is chosen becomes one. */
export function Templates({ tasks, onClose }: { tasks: Task[]; onClose: () => void }) {
  const { data, error, refetch: again } = $api.useQuery('get', '/v1/task-templates', { params: { query: { limit: 1000 } } });
  const [left, setLeft] = useState(new Set<string>());
  const [search, setSearch] = useState('');
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const have = new Set(tasks.map(({ taskTemplateId }) => taskTemplateId));
  const all = data?.data ?? [];
  const open = all.filter(({ id }) => !have.has(id));
  const chosen = open.filter(({ id }) => !left.has(id));
  const seen = open.filter((one) => `${one.title} ${one.description}`.toLowerCase().includes(search.toLowerCase()));

  const toggle = (id: string) => {
    const next = new Set(left);
    if (!next.delete(id)) next.add(id);
    setLeft(next);
  };

  async function create() {
    setBusy(true);
    setProblem(undefined);
    try {
      const made = await api.POST('/v1/tasks/from-templates', { body: { templateIds: chosen.map(({ id }) => id) } });
      await refetch('/v1/tasks');
      toast(t.tasks.templates.done(made.data?.createdCount ?? 0));
      onClose();
    } catch (failure) {
      setProblem(words(failure));
      setBusy(false);
    }
  }

  return (
    <Panel title={t.tasks.templates.title} onClose={onClose} isWide>
      <p className="t2">{t.tasks.templates.text}</p>
      {error && <SectionError error={error} onRetry={() => void again()} />}
      {data && open.length === 0 && <p className={css.none}>{t.tasks.templates.none}</p>}
      {open.length > 0 && (
        <>
          <div className={css.tools}>
            <Checkbox
              label={t.tasks.templates.all}
              checked={chosen.length === open.length}
              indeterminate={chosen.length > 0 && chosen.length < open.length}
              onChange={() => setLeft(chosen.length > 0 ? new Set(open.map(({ id }) => id)) : new Set())}
            />
            <TextInput
              aria-label={t.tasks.templates.search}
              placeholder={t.tasks.templates.search}
              size="xs"
              style={{ flex: 1 }}
              value={search}
              onChange={(event) => setSearch(event.currentTarget.value)}
            />
          </div>
          {all.length > open.length && <p className="t3">{t.tasks.templates.have(all.length - open.length)}</p>}
          <ul>
            {seen.map((one) => (
              <Template key={one.id} template={one} checked={!left.has(one.id)} onToggle={() => toggle(one.id)} />
            ))}
          </ul>
          {problem && (
            <Alert color="red" variant="light" role="alert" mt={12}>
              {problem}
            </Alert>
          )}
          <div className={css.bar}>
            <Button variant="default" onClick={onClose}>
              {t.actions.cancel}
            </Button>
            <Button onClick={() => void create()} loading={busy} disabled={chosen.length === 0}>
              {t.tasks.templates.create(chosen.length)}
            </Button>
          </div>
        </>
      )}
    </Panel>
  );
}

type TemplateProps = { template: Schemas['TaskTemplate']; checked: boolean; onToggle: () => void };

function Template({ template, checked, onToggle }: TemplateProps) {
  return (
    <li className={css.template}>
      <Checkbox aria-label={template.title} checked={checked} onChange={onToggle} mt={2} />
      <div>
        <details>
          <summary>{template.title}</summary>
          <p>{template.description}</p>
        </details>
        <small>
          {template.frequency ? t.tasks.frequency[template.frequency] : t.tasks.once} · {t.departments[template.department]}
        </small>
      </div>
    </li>
  );
}
