import { Button, TextInput } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, type Schemas } from '../api/client';
import { chooseOrganization } from '../api/organization';
import { Problem } from '../api/problem';
import { queries } from '../api/query';
import { CopyWord } from '../parts/Copy';
import { useView } from '../parts/search';
import { t } from '../texts';
import { Done, Gate, PasswordInput, useForm } from './frame';
import css from './gate.module.css';
import { useVisitor } from './visitor';

export { Confirmed, SignIn } from './SignIn';

export function Forgot() {
  const [sent, setSent] = useState(false);
  const form = useForm(['email'], async ({ email = '' }) => {
    await api.POST('/v1/auth/forgot-password', { body: { email } });
    setSent(true);
  });
  return (
    <Gate title={t.gate.forgotTitle} lead={t.gate.forgotText}>
      {sent ? (
        <Done>{t.gate.forgotDone}</Done>
      ) : (
        <form onSubmit={form.submit} className={css.form}>
          <TextInput
            label={t.gate.email}
            type="email"
            autoComplete="username"
            required
            withAsterisk={false}
            {...form.field('email')}
          />
          {form.problem}
          <Button type="submit" size="lg" loading={form.busy}>
            {t.gate.forgotButton}
          </Button>
        </form>
      )}
      <Link to="/sign-in" className="link">
        {t.gate.back}
      </Link>
    </Gate>
  );
}

export function Reset() {
  const { view } = useView();
  const [done, setDone] = useState(false);
  const form = useForm(['newPassword'], async ({ newPassword = '' }) => {
    await api.POST('/v1/auth/reset-password', { body: { token: view.token ?? '', newPassword } });
    setDone(true);
  });
  return (
    <Gate title={t.gate.resetTitle}>
      {done ? (
        <Done>{t.gate.resetDone}</Done>
      ) : (
        <form onSubmit={form.submit} className={css.form}>
          <PasswordInput
            label={t.gate.newPassword}
            description={t.gate.passwordHelp}
            autoComplete="new-password"
            {...form.field('newPassword')}
          />
          {form.problem}
          <Button type="submit" size="lg" loading={form.busy}>
            {t.gate.resetButton}
          </Button>
        </form>
      )}
      <Link to="/sign-in" className="link">
        {t.gate.back}
      </Link>
    </Gate>
  );
}

function ignoreSecondFactor(error: unknown) {
  if (!(error instanceof Problem) || error.code !== 'second_factor_required') throw error;
}

export function Accept() {
  const { view } = useView();
  const token = view.token ?? '';
  const offer = useQuery({
    queryKey: ['invitation', token],
    queryFn: async () => (await api.GET('/v1/auth/invitation', { params: { query: { token } } })).data,
    retry: false,
  });
  const session = useVisitor();
  const form = useForm(['name', 'password', 'newPassword'], async ({ name, password, newPassword }) => {
    const body = { token, ...(name && { name }), ...(password && { password }), ...(newPassword && { newPassword }) };
    const { data } = await api.POST('/v1/auth/accept-invitation', { body });
    if (!data) return;
    chooseOrganization(data.organizationId);
    const chosen = newPassword || password;
    // An account with a second factor is asked for it on the sign-in page.
    if (chosen) await api.POST('/v1/auth/login', { body: { email: data.email, password: chosen } }).catch(ignoreSecondFactor);
    location.assign('/');
  });
  if (offer.error) return <Gate title={t.gate.invalidLink}>{null}</Gate>;
  if (!offer.data || session.data === undefined) return null;
  const { organization, email, needsPassword, needsCurrentPassword, needsNewPassword } = offer.data;
  const user = session.data?.user.email;
  const isSignedIn = user !== undefined && (email === null || user.toLowerCase() === email.toLowerCase());
  return (
    <Gate title={t.gate.acceptTitle(organization)} lead={email === null ? t.gate.acceptAccount : t.gate.acceptText(email)}>
      <form onSubmit={form.submit} className={css.form}>
        {needsPassword && (
          <>
            <TextInput label={t.gate.yourName} autoComplete="name" {...form.field('name')} />
            <PasswordInput
              label={t.gate.password}
              description={t.gate.passwordHelp}
              autoComplete="new-password"
              {...form.field('password')}
            />
          </>
        )}
        {needsCurrentPassword && isSignedIn && <p className="t2">{t.gate.acceptSignedIn(user)}</p>}
        {needsCurrentPassword && !isSignedIn && (
          <>
            <p className="t2">{t.gate.acceptKnown}</p>
            <PasswordInput label={t.gate.password} autoComplete="current-password" {...form.field('password')} />
          </>
        )}
        {needsNewPassword && (
          <PasswordInput
            label={t.gate.newPassword}
            description={t.gate.acceptNewPassword}
            autoComplete="new-password"
            {...form.field('newPassword')}
          />
        )}
        {form.problem}
        <Button type="submit" size="lg" loading={form.busy}>
          {t.gate.acceptButton}
        </Button>
        {needsCurrentPassword && !isSignedIn && (
          <Link to="/forgot-password" className="link">
            {t.gate.forgot}
          </Link>
        )}
      </form>
    </Gate>
  );
}

export function Unsubscribe() {
  const { view } = useView();
  const [done, setDone] = useState(false);
  const form = useForm([], async () => {
    await api.POST('/v1/auth/unsubscribe', { body: { token: view.token ?? '' } });
    setDone(true);
  });
  return (
    <Gate title={t.gate.unsubscribeTitle} lead={t.gate.unsubscribeText}>
      {done ? (
        <Done>{t.gate.unsubscribeDone}</Done>
      ) : (
        <form onSubmit={form.submit} className={css.form}>
          {form.problem}
          <Button type="submit" size="lg" loading={form.busy}>
            {t.gate.unsubscribeButton}
          </Button>
        </form>
      )}
    </Gate>
  );
}

export function SetUp() {
  const { view } = useView();
  const status = useQuery({ queryKey: ['setup'], queryFn: async () => (await api.GET('/v1/setup')).data, retry: false });
  const [created, setCreated] = useState<Schemas['SetUpDone'] & { organization: string }>();
  const form = useForm(['token', 'organization', 'name', 'email', 'password'], async (values) => {
    const { token = view.token ?? '', organization = '', name = '', email = '', password = '' } = values;
    const { data } = await api.POST('/v1/setup', { body: { token, organization, name, email, password } });
    if (!data) return;
    await api.POST('/v1/auth/login', { body: { email, password } });
    chooseOrganization(data.organizationId);
    queries.clear();
    setCreated({ ...data, organization });
  });
  if (created) return <Next created={created} />;
  if (status.data && !status.data.needed)
    return (
      <Gate title={t.gate.alreadySetUp}>
        <Link to="/sign-in" className="link">
          {t.gate.signIn}
        </Link>
      </Gate>
    );
  return (
    <Gate title={t.gate.setUpTitle} lead={t.gate.setUpText}>
      <form onSubmit={form.submit} className={css.form}>
        <TextInput
          label={t.gate.organization}
          description={t.gate.organizationHelp}
          autoComplete="organization"
          {...form.field('organization')}
        />
        <TextInput label={t.gate.yourName} autoComplete="name" {...form.field('name')} />
        <TextInput label={t.gate.email} type="email" autoComplete="username" {...form.field('email')} />
        <PasswordInput
          label={t.gate.password}
          description={t.gate.passwordHelp}
          autoComplete="new-password"
          {...form.field('password')}
        />
        {!view.token && (
          <TextInput label={t.gate.setupToken} description={t.gate.setupTokenHelp} autoComplete="off" {...form.field('token')} />
        )}
        {form.problem}
        <Button type="submit" size="lg" loading={form.busy}>
          {t.gate.setUpButton}
        </Button>
      </form>
    </Gate>
  );
}

/** The next steps after the set-up. */
function Next({ created }: { created: { organization: string; apiKey?: string | null } }) {
  const { next } = t.gate;
  const ways = [
    { to: '/people', label: next.people, hint: next.peopleHint },
    { to: '/risks', label: next.risks, hint: next.risksHint },
    { to: '/', label: next.home },
  ];
  return (
    <Gate title={t.gate.nextTitle(created.organization)} lead={t.gate.nextText}>
      <p className={css.lead}>{next.planHint}</p>
      <Button component={Link} to="/plan/set-up" size="lg" mt={8}>
        {next.plan}
      </Button>
      <h2 className={css.other}>{next.other}</h2>
      <ul className={css.ways}>
        {ways.map(({ to, label, hint }) => (
          <li key={to}>
            <Link to={to} className={css.way}>
              <span>
                <b>{label}</b>
                {hint && <small>{hint}</small>}
              </span>
              <IconArrowRight size={16} aria-hidden="true" />
            </Link>
          </li>
        ))}
      </ul>
      {created.apiKey && <FirstKey apiKey={created.apiKey} />}
    </Gate>
  );
}

/** The key for scripts: one line, folded away, because few need it now. */
function FirstKey({ apiKey }: { apiKey: string }) {
  return (
    <details className={css.key}>
      <summary>{t.gate.apiKey}</summary>
      <p className="t2">{t.gate.apiKeyText}</p>
      <div className={css.keyLine}>
        <code className="mono">{apiKey}</code>
        <CopyWord text={apiKey} label={t.gate.apiKeyCopy} size="xs" />
      </div>
    </details>
  );
}
