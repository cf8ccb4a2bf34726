import { Alert, Button, Radio, SegmentedControl, Select, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { api, type Schemas } from '../api/client';
import { Problem, words as told } from '../api/problem';
import { refetch } from '../api/query';
import { useDraft } from '../parts/drafts';
import { SectionError } from '../parts/ErrorPage';
import { Panel } from '../parts/Panel';
import { toast } from '../parts/toast';
import { t } from '../texts';
import css from './Automations.module.css';
import type { Automation } from './automated';
import { checkWords, useChecks } from './Check';
import { cronOf, type Plan } from './cron';
import { choices } from './fields';
import { Parameters } from './Parameters';
import { Schedule } from './Schedule';
import { CodeEditor, Refusal, refusal } from './Script';
import { type ObjectSchema, sent, shown, type Values } from './schema';

const STARTER = `export default async function (ctx) {
  const response = await ctx.fetch("https://status.example.com/");
  ctx.log("answered", response.status);
  return {
    status: response.ok ? "pass" : "fail",
    summary: \`It answered \${response.status}.\`,
    evidence: { httpStatus: response.status },
  };
}
`;

export type Kind = 'check' | 'script';
type Props = {
  taskId: string;
  kind: Kind;
  onKind: (kind: Kind) => void;
  onClose: () => void;
  onCreated: (automation: Automation) => void;
};

/** A check with its parameters, or a script; when it runs, and what follows. */
export function NewAutomation({ taskId, kind, onKind, onClose, onCreated }: Props) {
  const checks = useChecks();
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<string>();
  const [values, setValues] = useState<Values>();
  const [script, setScript, forget] = useDraft(`script:new:${taskId}`, STARTER);
  const [plan, setPlan] = useState<Plan>({ kind: 'weekly', time: '06:00', days: [1] });
  const [outcome, setOutcome] = useState<Pick<Schemas['CreateAutomation'], 'statusOnPass' | 'statusOnFail'>>({});
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [refused, setRefused] = useState<ReturnType<typeof refusal>>({});
  const [busy, setBusy] = useState(false);
  const words = t.tasks.automations;
  const check = checks.data?.data.find((one) => one.check === chosen);
  const schema = (check?.parameters ?? {}) as ObjectSchema;
  const parameters = values ?? shown(schema, null);

  async function submit(event: FormEvent) {
    event.preventDefault();
    setErrors({});
    setRefused({});
    if (kind === 'check' && !check) {
      setErrors({ check: words.chooseFirst });
      return;
    }
    setBusy(true);
    const what = kind === 'check' ? { check: chosen, parameters: sent(schema, parameters) } : { script };
    try {
      const { data } = await api.POST('/v1/tasks/{taskId}/automations', {
        params: { path: { taskId } },
        body: { ...what, ...outcome, name: name.trim() || undefined, schedule: cronOf(plan) },
      });
      await refetch('/v1/tasks');
      if (!data) return;
      forget();
      toast(words.created(data.name));
      onCreated(data);
    } catch (problem) {
      if (problem instanceof Problem) setErrors(problem.fields());
      setRefused(kind === 'script' ? refusal(problem) : { text: general(problem) });
    } finally {
      setBusy(false);
    }
  }

  const result = (field: 'statusOnPass' | 'statusOnFail') => (
    <Select
      label={words.fields[field]}
      placeholder={words.leave}
      clearable
      data={choices(t.tasks.status).map(({ value, label }) => ({ value, label: words.becomes(label) }))}
      value={outcome[field] ?? null}
      error={errors[field]}
      onChange={(next) => setOutcome({ ...outcome, [field]: next ?? undefined })}
    />
  );

  return (
    <Panel title={words.new} onClose={onClose} isWide>
      <form onSubmit={(event) => void submit(event)} className={css.form} noValidate>
        <SegmentedControl
          fullWidth
          aria-label={words.kind}
          value={kind}
          onChange={(next) => onKind(next as Kind)}
          data={[
            { value: 'check', label: words.check },
            { value: 'script', label: words.script },
          ]}
        />
        {kind === 'check' ? (
          <>
            {checks.error && <SectionError error={checks.error} onRetry={() => void checks.refetch()} />}
            <Radio.Group
              label={words.choose}
              value={chosen ?? ''}
              error={errors.check}
              onChange={(next) => {
                setChosen(next);
                setValues(undefined);
                setErrors({});
              }}
            >
              {checks.data?.data.map((one) => (
                <Radio
                  key={one.check}
                  value={one.check}
                  label={checkWords(one).title}
                  description={checkWords(one).description}
                  mt={10}
                />
              ))}
            </Radio.Group>
            {check && <Parameters check={check.check} schema={schema} values={parameters} onChange={setValues} errors={errors} />}
          </>
        ) : (
          <div className={css.panel}>
            <CodeEditor value={script} onChange={setScript} problem={refused.problem} />
            <p className={css.help}>{t.tasks.scripts.help}</p>
          </div>
        )}
        <TextInput
          label={`${words.fields.name}${kind === 'check' ? ` ${t.forms.optional}` : ''}`}
          description={kind === 'check' ? words.nameHelp : undefined}
          value={name}
          error={errors.name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Schedule plan={plan} onChange={setPlan} error={errors.schedule} />
        <div className={css.pair}>
          {result('statusOnPass')}
          {result('statusOnFail')}
        </div>
        {kind === 'script' && errors.script ? (
          <Refusal {...refused} />
        ) : (
          refused.text &&
          Object.keys(errors).length === 0 && (
            <Alert color="red" variant="light" role="alert">
              {refused.text}
            </Alert>
          )
        )}
        <div className={css.buttons}>
          <Button variant="default" onClick={onClose}>
            {t.actions.cancel}
          </Button>
          <Button type="submit" loading={busy}>
            {words.create}
          </Button>
        </div>
      </form>
    </Panel>
  );
}

const general = (problem: unknown) => (problem instanceof Problem && problem.errors.length > 0 ? undefined : told(problem));
