import { Checkbox, Select, Textarea, TextInput } from '@mantine/core';
import { IconFileCertificate } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useMe } from '../api/session';
import { useFrameworks, useReadiness } from '../frameworks/queries';
import { Glyph } from '../parts/glyphs';
import { t } from '../texts';
import { Preview } from './Preview';
import { decide, type Form, type Framework, frameworksOf } from './queries';
import { useSaving } from './SaveBar';
import css from './trust.module.css';

/** Labels stand above an input, help below it. */
export const HELP_BELOW: ('label' | 'input' | 'description' | 'error')[] = ['label', 'input', 'description', 'error'];

type Text = 'friendlyUrl' | 'overview' | 'contactEmail';

/** What the public page says, beside how it will look. */
export function Page({ form }: { form: Form }) {
  const { can } = useMe();
  const { errors, save, bar } = useSaving(form, ['friendlyUrl', 'overview', 'contactEmail', 'frameworks']);
  const { settings, draft } = form;
  if (!settings) return <Waiting />;
  const mayChange = can('trust-portal:update');
  const frameworks = frameworksOf(settings, draft);
  const text = (name: Text) => ({
    label: `${t.trust.fields[name]} ${t.forms.optional}`,
    description: t.trust.fields[`${name}Help`],
    value: draft[name] ?? (name in draft ? '' : (settings[name] ?? '')),
    error: errors[name],
    readOnly: !mayChange,
    inputWrapperOrder: HELP_BELOW,
    onChange: (event: { currentTarget: { value: string } }) => form.set({ [name]: event.currentTarget.value }),
  });
  return (
    <div className={css.sides}>
      <form
        noValidate
        className={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Textarea {...text('overview')} autosize minRows={4} maxRows={16} />
        <TextInput
          {...text('friendlyUrl')}
          leftSection={<span className={css.prefix}>/trust/</span>}
          leftSectionWidth={52}
          autoComplete="off"
          spellCheck={false}
        />
        <TextInput {...text('contactEmail')} type="email" autoComplete="off" />
        <fieldset className={css.frameworks}>
          <legend>{t.trust.fields.frameworks}</legend>
          <p className="t3">{t.trust.fields.frameworksHelp}</p>
          {errors.frameworks && <p role="alert">{errors.frameworks}</p>}
          <ul>
            {frameworks.map((one) => (
              <Choice
                key={one.framework}
                one={one}
                mayChange={mayChange}
                onDecide={(next) => form.set(decide(settings, draft, next))}
              />
            ))}
          </ul>
        </fieldset>
        {mayChange && bar}
      </form>
      {mayChange && <Preview settings={settings} draft={draft} />}
    </div>
  );
}

function Choice({ one, mayChange, onDecide }: { one: Framework; mayChange: boolean; onDecide: (next: Framework) => void }) {
  const choices = Object.entries(t.trust.progress).map(([value, label]) => ({ value, label }));
  return (
    <li className={css.choice}>
      <Checkbox
        label={one.title}
        aria-label={t.trust.frameworkShown(one.title)}
        checked={one.enabled}
        disabled={!mayChange}
        onChange={(event) => onDecide({ ...one, enabled: event.currentTarget.checked })}
      />
      {one.hasCertificate && (
        <span className={css.hint}>
          <IconFileCertificate size={15} stroke={1.6} aria-hidden="true" /> {t.trust.hasCertificate}
        </span>
      )}
      {one.enabled && (
        <Select
          size="xs"
          w={132}
          aria-label={t.trust.frameworkStatus(one.title)}
          data={choices}
          value={one.status}
          allowDeselect={false}
          disabled={!mayChange}
          onChange={(status) => status && onDecide({ ...one, status: status as Framework['status'] })}
        />
      )}
      {one.enabled && one.status === 'compliant' && <Claim framework={one.framework} />}
    </li>
  );
}

/** The framework behind what the page claims, where it has another name. */
const BEHIND: Record<string, string> = { soc2_type1: 'soc_2', soc2_type2: 'soc_2' };

/** What is said of a claim that the controls do not bear out. */
function Claim({ framework }: { framework: Framework['framework'] }) {
  const { can } = useMe();
  const alias = BEHIND[framework] ?? framework;
  const known = useFrameworks().data?.data.find((one) => one.alias === alias);
  const { data } = useReadiness(known?.id ?? '', undefined, known !== undefined && can('control:read'));
  if (!data || data.score === 100) return null;
  return (
    <p className={css.claim} role="status">
      <Glyph shape="alert" tone="warn" /> {t.trust.notReady(data.score)}{' '}
      <Link to={`/frameworks/${known?.id}` as string} className="link">
        {t.nav.frameworks}
      </Link>
    </p>
  );
}

/** Still bars where the form will be. */
export function Waiting() {
  return (
    <div className={css.waiting} aria-hidden="true">
      {[40, 90, 75, 30, 85].map((width) => (
        <i key={width} style={{ width: `${width}%` }} />
      ))}
    </div>
  );
}
