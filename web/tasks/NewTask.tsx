import { Alert, Button, Drawer, Select, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { api, type Schemas } from '../api/client';
import { usePeople } from '../api/people';
import { Problem, words } from '../api/problem';
import { refetch } from '../api/query';
import { t } from '../texts';
import { choices, type Task } from './fields';

type Values = Partial<Record<'title' | 'description' | 'assigneeId' | 'dueDate' | 'frequency' | 'department', string>>;

const ASKED = ['title', 'description', 'assigneeId', 'dueDate', 'frequency', 'department'];

export function NewTask({ onClose, onCreated }: { onClose: () => void; onCreated: (task: Task) => void }) {
  const people = usePeople();
  const [values, setValues] = useState<Values>({});
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [general, setGeneral] = useState<string>();
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    setErrors({});
    setGeneral(undefined);
    try {
      const { data } = await api.POST('/v1/tasks', { body: { title: '', ...values } as Schemas['CreateTask'] });
      await refetch('/v1/tasks');
      if (data) onCreated(data);
    } catch (problem) {
      if (problem instanceof Problem) {
        setErrors(problem.fields());
        setGeneral(problem.rest(ASKED));
      } else setGeneral(words(problem));
    } finally {
      setBusy(false);
    }
  }

  const set = (name: keyof Values, value: string | null) => setValues((old) => ({ ...old, [name]: value || undefined }));
  const text = (name: keyof Values, isOptional = true) => ({
    label: `${t.tasks.fields[name]}${isOptional ? ` ${t.forms.optional}` : ''}`,
    error: errors[name],
    value: values[name] ?? '',
    onChange: (event: { currentTarget: { value: string } }) => set(name, event.currentTarget.value),
  });
  const choice = (name: keyof Values) => ({
    label: `${t.tasks.fields[name]} ${t.forms.optional}`,
    error: errors[name],
    value: values[name] ?? null,
    clearable: true,
    onChange: (next: string | null) => set(name, next),
  });
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size={560}
      title={t.tasks.new}
      closeButtonProps={{ 'aria-label': t.actions.close }}
      attributes={{ content: { 'aria-label': t.tasks.new } }}
    >
      <form onSubmit={(event) => void submit(event)} style={{ display: 'grid', gap: 16 }} noValidate>
        {general && (
          <Alert color="red" variant="light" role="alert">
            {general}
          </Alert>
        )}
        <TextInput {...text('title', false)} description={t.tasks.titleHelp} data-autofocus />
        <Textarea {...text('description')} description={t.tasks.descriptionHelp} autosize minRows={3} />
        <Select
          {...choice('assigneeId')}
          data={people.active.map(({ id, user }) => ({ value: id, label: user.name }))}
          searchable
        />
        <TextInput {...text('dueDate')} type="date" />
        <Select {...choice('frequency')} description={t.tasks.frequencyHelp} data={choices(t.tasks.frequency)} />
        <Select {...choice('department')} data={choices(t.departments)} />
        <div style={{ display: 'flex', justifyContent: 'flex-end', gap: 8 }}>
          <Button variant="default" onClick={onClose}>
            {t.actions.cancel}
          </Button>
          <Button type="submit" loading={busy}>
            {t.forms.create(t.tasks.one)}
          </Button>
        </div>
      </form>
    </Drawer>
  );
}
