import { Alert, Button, Skeleton } from '@mantine/core';
import { useState } from 'react';
import { $api, type Schemas } from '../api/client';
import { Problem, words as told } from '../api/problem';
import { useMe } from '../api/session';
import { SectionError } from '../parts/ErrorPage';
import { t } from '../texts';
import css from './Automations.module.css';
import { type Automation, change } from './automated';
import { Parameters } from './Parameters';
import { CodeEditor } from './Script';
import { type ObjectSchema, sent, shown, type Values } from './schema';

export type BuiltIn = Schemas['AutomationCheck'];

export function useChecks() {
  return $api.useQuery('get', '/v1/automation-checks', {}, { staleTime: Number.POSITIVE_INFINITY });
}

/** The name and the meaning of a check in the reader's language. */
export function checkWords({ check, title, description }: BuiltIn) {
  return t.tasks.checks[check] ?? { title, description };
}

/** The built-in check of an automation, with its parameters. */
export function Check({ automation }: { automation: Automation }) {
  const { can } = useMe();
  const { data, error, refetch: again } = useChecks();
  const [draft, setDraft] = useState<Values>();
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [general, setGeneral] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [isOpen, setIsOpen] = useState(false);
  const check = data?.data.find((one) => one.check === automation.check);
  if (error) return <SectionError error={error} onRetry={() => void again()} />;
  if (!check) return <Skeleton height={160} animate={false} />;

  const schema = check.parameters as ObjectSchema;
  const words = t.tasks.automations;
  const { title, description } = checkWords(check);

  async function save() {
    setBusy(true);
    setErrors({});
    setGeneral(undefined);
    try {
      await change(automation, { parameters: sent(schema, draft ?? {}) }, words.parametersSaved);
      setDraft(undefined);
    } catch (problem) {
      if (problem instanceof Problem) {
        setErrors(problem.fields());
        setGeneral(problem.rest(Object.keys(schema.properties ?? {}).map((name) => `parameters.${name}`)));
      } else setGeneral(told(problem));
    } finally {
      setBusy(false);
    }
  }

  return (
    <div className={css.panel}>
      <div>
        <h3>{title}</h3>
        <p className="t2">{description}</p>
      </div>
      {general && (
        <Alert color="red" variant="light" role="alert">
          {general}
        </Alert>
      )}
      <Parameters
        check={check.check}
        schema={schema}
        values={draft ?? shown(schema, automation.parameters)}
        onChange={setDraft}
        errors={errors}
        isReadOnly={!can('automation:update')}
      />
      {draft && (
        <div className={css.buttons}>
          <Button variant="subtle" onClick={() => setDraft(undefined)}>
            {t.tasks.scripts.discard}
          </Button>
          <Button variant="default" onClick={() => void save()} loading={busy}>
            {words.saveParameters}
          </Button>
        </div>
      )}
      <div>
        <button type="button" className={`plain link ${css.reveal}`} aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {words.showScript}
        </button>
        {isOpen && <CodeEditor value={check.script} />}
      </div>
    </div>
  );
}
