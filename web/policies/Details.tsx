import { usePeople } from '../api/people';
import { useEdits, type Versioned } from '../api/records';
import { useMe } from '../api/session';
import { Field, type Kind } from '../parts/Field';
import { day, moment } from '../parts/format';
import { History } from '../parts/History';
import { LinkedControls } from '../parts/links/Links';
import { Person } from '../parts/Person';
import { Unsaved } from '../parts/Unsaved';
import { t } from '../texts';
import css from './Detail.module.css';
import { choices, type PolicyView, reader } from './fields';

type Edited = {
  name: 'name' | 'description' | 'assigneeId' | 'department' | 'frequency' | 'dueDate' | 'reviewDate' | 'isRequiredToSign';
  kind: Kind;
  choices?: Record<string, string>;
  optional?: boolean;
};

const edited = (): Edited[] => [
  { name: 'name', kind: 'text' },
  { name: 'description', kind: 'long' },
  { name: 'assigneeId', kind: 'choice', optional: true },
  { name: 'department', kind: 'choice', choices: t.departments, optional: true },
  { name: 'frequency', kind: 'choice', choices: t.policies.frequency, optional: true },
  { name: 'dueDate', kind: 'date', optional: true },
  { name: 'reviewDate', kind: 'date', optional: true },
  { name: 'isRequiredToSign', kind: 'yes' },
];

/** What is known of the policy beside its text, and everything that happened to it. */
export function Details({ record }: { record: Versioned<PolicyView> }) {
  const { data: policy } = record;
  const { can } = useMe();
  const people = usePeople();
  const edits = useEdits('/v1/policies', policy.id);
  const labels: Record<string, string> = t.policies.fields;
  const read = reader(people.name);
  const save = can('policy:update') ? edits.field : undefined;
  const persons = people.active.map(({ id, user }) => ({ value: id, label: user.name }));

  return (
    <div className={css.fields}>
      <Unsaved
        edits={edits}
        labels={labels}
        read={(field, value) => (value === null ? t.edits.none : (read(field, value) ?? String(value)))}
      />
      <dl>
        {edited().map(({ name, kind, choices: words, optional }) => (
          <Field
            key={name}
            name={name}
            label={labels[name] ?? name}
            kind={kind}
            value={policy[name] ?? null}
            choices={name === 'assigneeId' ? persons : words && choices(words)}
            optional={optional}
            onSave={save?.(name)}
          >
            {name === 'assigneeId' ? (
              <Person name={people.name(policy.assigneeId)} />
            ) : name === 'reviewDate' || name === 'dueDate' ? (
              policy[name] && day(policy[name])
            ) : (
              (words?.[String(policy[name])] ?? policy[name])
            )}
          </Field>
        ))}
        <Field name="approverId" label={t.policies.fields.approverId} kind="text" value={null}>
          {policy.approverId && <Person name={people.name(policy.approverId)} />}
        </Field>
        <Field name="lastPublishedAt" label={t.policies.fields.lastPublishedAt} kind="text" value={null}>
          {policy.lastPublishedAt && moment(policy.lastPublishedAt)}
        </Field>
      </dl>
      <LinkedControls kind="policy" record={policy} level="h2" />
      <h2>{t.record.history}</h2>
      <History path="/v1/policies" id={policy.id} labels={labels} read={read} />
    </div>
  );
}
