import { Alert, Button, Checkbox, FileInput, Select, Textarea, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api, type Schemas } from '../api/client';
import { afterSignIn } from '../api/expiry';
import { usePeople } from '../api/people';
import { Problem, words } from '../api/problem';
import { refetch } from '../api/query';
import { useDraftForm } from '../parts/draftForm';
import { useDraft } from '../parts/drafts';
import { Panel } from '../parts/Panel';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { choices } from './fields';
import { attachText } from './file';

type Values = Schemas['CreatePolicy'];
const NONE: Values = { name: '', frequency: 'yearly', isRequiredToSign: true };
const KNOWN = ['name', 'description', 'assigneeId', 'department', 'frequency', 'isRequiredToSign'];

/** What a policy needs to begin with. Its text is written afterwards, or comes as a file. */
export function NewPolicy({ onClose }: { onClose: () => void }) {
  const people = usePeople();
  const navigate = useNavigate();
  const [values, setValues, discard] = useDraft<Values>('new:/v1/policies', NONE);
  const isFilled = JSON.stringify({ ...NONE, ...values }) !== JSON.stringify(NONE);
  const [file, setFile] = useState<File | null>(null);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [general, setGeneral] = useState<string>();
  const [busy, setBusy] = useState(false);
  const { note, cancel, dialog } = useDraftForm({ isFilled, discard, onClose });
  const { fields } = t.policies;
  const set = (next: Partial<Values>) => setValues({ ...values, ...next });
  const help = (name: string) => ({ error: errors[name] });
  const optional = (label: string) => `${label} ${t.forms.optional}`;

  async function submit(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    setErrors({});
    setGeneral(undefined);
    try {
      const { data } = await afterSignIn(
        () => api.POST('/v1/policies', { body: values }),
        () => setGeneral(t.offline.created),
      );
      if (!data) return;
      discard();
      // The policy is there now: a file that is refused is told on its page, where another can be chosen.
      if (file) await attachText(data.id, file, () => {}).catch((problem) => toast(words(problem), { bad: true }));
      await refetch('/v1/policies');
      void navigate({ to: `/policies/${data.id}` as string, search: (file ? {} : { edit: 'yes' }) as never });
    } catch (error) {
      if (error instanceof Problem) {
        setErrors(error.fields());
        setGeneral(error.rest(KNOWN));
      } else setGeneral(words(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <Panel title={t.policies.new} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)} style={{ display: 'grid', gap: 16 }}>
        {general && (
          <Alert color="red" variant="light" role="alert">
            {general}
          </Alert>
        )}
        {note}
        <TextInput
          label={fields.name}
          description={t.policies.nameHelp}
          data-autofocus
          value={values.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          {...help('name')}
        />
        <Textarea
          label={optional(fields.description)}
          description={t.policies.descriptionHelp}
          autosize
          minRows={2}
          value={values.description ?? ''}
          onChange={(event) => set({ description: event.currentTarget.value })}
          {...help('description')}
        />
        <Select
          label={optional(fields.assigneeId)}
          data={people.active.map(({ id, user }) => ({ value: id, label: user.name }))}
          value={values.assigneeId ?? null}
          searchable
          clearable
          onChange={(assigneeId) => set({ assigneeId })}
          {...help('assigneeId')}
        />
        <Select
          label={optional(fields.department)}
          data={choices(t.departments)}
          value={values.department ?? null}
          clearable
          onChange={(department) => set({ department: department as Values['department'] })}
          {...help('department')}
        />
        <Select
          label={fields.frequency}
          description={t.policies.frequencyHelp}
          data={choices(t.policies.frequency)}
          value={values.frequency ?? null}
          clearable
          onChange={(frequency) => set({ frequency: frequency as Values['frequency'] })}
          {...help('frequency')}
        />
        <Checkbox
          label={t.policies.requireSignature}
          checked={values.isRequiredToSign ?? true}
          onChange={(event) => set({ isRequiredToSign: event.currentTarget.checked })}
        />
        <FileInput
          label={optional(t.policies.fileText)}
          description={t.policies.fileHelp}
          placeholder={t.policies.chooseFile}
          accept=".pdf,.doc,.docx"
          clearable
          clearButtonProps={{ 'aria-label': t.actions.remove }}
          value={file}
          onChange={setFile}
        />
        <div style={{ display: 'flex', justifyContent: 'flex-end', gap: 8 }}>
          <Button variant="default" onClick={cancel}>
            {t.actions.cancel}
          </Button>
          <Button type="submit" loading={busy}>
            {file ? t.policies.create : t.policies.createAndWrite}
          </Button>
        </div>
      </form>
      {dialog}
    </Panel>
  );
}
