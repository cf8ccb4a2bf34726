import { Checkbox, PasswordInput, SegmentedControl, useMantineColorScheme } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, api, type Schemas } from '../../api/client';
import { words } from '../../api/problem';
import { refetch } from '../../api/query';
import { useMe } from '../../api/session';
import { Field, type Value } from '../../parts/Field';
import { roleWords } from '../../parts/roles';
import { toast } from '../../parts/toast';
import { chooseLanguage, type Language, language, languages, t } from '../../texts';
import { FormBody, useForm } from '../form';
import { Fetched, Section } from '../Section';
import css from '../settings.module.css';
import { SECURITY } from './queries';
import { Security } from './Security';
import { Sessions } from './Sessions';

export function Account() {
  return (
    <>
      <Who />
      <Look />
      <Security />
      <Password />
      <Notices />
      <Sessions />
    </>
  );
}

function Who() {
  const { user, membership } = useMe();
  const texts = t.settings.account;
  async function rename(name: Value) {
    await api.PATCH('/v1/auth/profile', { body: { name: String(name ?? '') } });
    await refetch('session', '/v1/people');
    toast(t.edits.saved);
  }
  return (
    <Section title={texts.who} lead={texts.whoText}>
      <dl>
        <Field name="name" label={texts.name} kind="text" value={user?.name ?? ''} onSave={rename}>
          {user?.name}
        </Field>
        <Field name="email" label={texts.email} kind="text" value={null}>
          {user?.email}
        </Field>
        <Field name="role" label={texts.roles} kind="text" value={null}>
          {membership && roleWords(membership.role)}
        </Field>
      </dl>
    </Section>
  );
}

function Look() {
  const texts = t.settings.account;
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const choices = (of: Record<string, string>) => Object.entries(of).map(([value, label]) => ({ value, label }));
  return (
    <Section title={texts.look} lead={texts.lookText}>
      <div className={css.choices}>
        <span>{t.language}</span>
        <SegmentedControl
          aria-label={t.language}
          value={language}
          data={choices(languages)}
          onChange={(next) => chooseLanguage(next as Language)}
        />
        <span>{texts.colours}</span>
        <SegmentedControl
          aria-label={texts.colours}
          value={colorScheme}
          data={choices(texts.schemes)}
          onChange={(next) => setColorScheme(next as typeof colorScheme)}
        />
      </div>
    </Section>
  );
}

type Notifications = Schemas['Notifications'];
const NOTICES = [
  'assigned',
  'dueSoon',
  'overdue',
  'automations',
  'policies',
  'mentioned',
  'portal',
] satisfies (keyof Notifications)[];

function Notices() {
  const { can } = useMe();
  const texts = t.settings.account;
  const notices = $api.useQuery('get', '/v1/auth/notifications');
  const shown = NOTICES.filter((name) => name !== 'portal' || can('trust-access:review'));
  // Shown at once, and put back if it is refused.
  const [changed, setChanged] = useState<Partial<Notifications>>({});
  async function set(name: keyof Notifications, isOn: boolean) {
    setChanged((old) => ({ ...old, [name]: isOn }));
    try {
      await api.PATCH('/v1/auth/notifications', { body: { [name]: isOn } });
      await refetch('/v1/auth/notifications');
      toast(t.edits.saved);
    } catch (problem) {
      toast(words(problem), { bad: true });
    } finally {
      setChanged(({ [name]: _, ...rest }) => rest);
    }
  }
  return (
    <Section title={texts.notices} lead={texts.noticesText}>
      <Fetched of={notices}>
        {(data) => (
          <div className={css.boxes}>
            {shown.map((name) => (
              <Checkbox
                key={name}
                label={texts.notice[name]?.[0]}
                description={texts.notice[name]?.[1]}
                checked={changed[name] ?? data[name]}
                onChange={(event) => void set(name, event.currentTarget.checked)}
              />
            ))}
          </div>
        )}
      </Fetched>
    </Section>
  );
}

function Password() {
  const security = $api.useQuery('get', SECURITY);
  const texts = t.settings.account;
  if (security.data && !security.data.password.isSet)
    return (
      <Section title={texts.password} lead={texts.noPassword}>
        <Link to="/forgot-password" className="link">
          {texts.setPassword}
        </Link>
      </Section>
    );
  return <ChangePassword />;
}

function ChangePassword() {
  const texts = t.settings.account;
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const form = useForm(['currentPassword', 'newPassword'], async () => {
    await api.POST('/v1/auth/change-password', { body: { currentPassword, newPassword } });
    setCurrent('');
    setNew('');
    toast(texts.changed);
  });
  return (
    <Section title={texts.password} lead={texts.passwordText}>
      <div className={css.narrow}>
        <FormBody form={form} verb={texts.change} isReady={currentPassword !== '' && newPassword !== ''}>
          <PasswordInput
            label={texts.current}
            value={currentPassword}
            error={form.errors.currentPassword}
            autoComplete="current-password"
            onChange={(event) => setCurrent(event.currentTarget.value)}
          />
          <PasswordInput
            label={texts.new}
            description={texts.newHelp}
            value={newPassword}
            error={form.errors.newPassword}
            autoComplete="new-password"
            onChange={(event) => setNew(event.currentTarget.value)}
          />
        </FormBody>
      </div>
    </Section>
  );
}
