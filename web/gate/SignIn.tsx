import { Alert, Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { api } from '../api/client';
import { queries } from '../api/query';
import { useView } from '../parts/search';
import { failureWords } from '../parts/ssoFailures';
import { isSsoWindow } from '../parts/ssoWindow';
import { t } from '../texts';
import { Done, Gate, useForm } from './frame';
import css from './gate.module.css';
import { nextPage } from './next';
import { SignInForm } from './SignInForm';
import { useVisitor } from './visitor';

export function SignIn() {
  const { view } = useView();
  const [step, setStep] = useState<'password' | 'code'>('password');
  // A round trip that confirms or links can fail while the session goes on.
  const visitor = useVisitor({ enabled: view.error !== undefined || view.switch !== undefined });
  if (visitor.isLoading) return null;
  if (view.switch) return <Switch ticket={view.switch} email={visitor.data?.user.email} />;
  const failure = view.error && <Failure code={view.error} reference={view.reference} />;
  if (failure && (visitor.data || isSsoWindow()))
    return (
      <Gate title={t.gate.sso.failed}>
        {failure}
        {isSsoWindow() ? <CloseWindow /> : <Back />}
      </Gate>
    );
  const isCode = step === 'code';
  const next = nextPage(view.next);
  return (
    <Gate title={isCode ? t.gate.codeTitle : t.gate.signIn} lead={isCode && t.gate.codeText}>
      {!isCode && failure}
      <SignInForm
        next={next}
        verb={t.gate.signInButton}
        onStep={setStep}
        onSignedIn={async () => {
          queries.clear();
          location.assign(next);
        }}
        below={
          <Link to="/forgot-password" className="link">
            {t.gate.forgot}
          </Link>
        }
      />
    </Gate>
  );
}

/** Why a round trip to the identity provider failed. */
function Failure({ code, reference }: { code: string; reference?: string }) {
  const { what, advice } = failureWords(code);
  return (
    <Alert color="red" variant="light" role="alert" title={what} mt={16}>
      <p>{advice}</p>
      {reference && <p className="t2">{t.problems.reference(reference)}</p>}
    </Alert>
  );
}

const Back = () => (
  <Button component="a" href="/" size="lg" mt={16}>
    {t.gate.sso.back}
  </Button>
);

const CloseWindow = () => (
  <Button size="lg" mt={16} onClick={() => window.close()}>
    {t.gate.sso.close}
  </Button>
);

/** Asks before the session of another person is replaced. */
function Switch({ ticket, email }: { ticket: string; email?: string }) {
  const form = useForm([], async () => {
    await api.POST('/v1/auth/sso/switch', { body: { ticket } });
    queries.clear();
    location.assign('/');
  });
  return (
    <Gate title={t.gate.sso.switchTitle} lead={email ? t.gate.sso.switchText(email) : t.gate.sso.switchGone}>
      <form onSubmit={form.submit} className={css.form}>
        {form.problem}
        <Button type="submit" size="lg" loading={form.busy}>
          {t.gate.sso.switch}
        </Button>
        <Button component="a" href="/" size="lg" variant="default">
          {email ? t.gate.sso.stay(email) : t.gate.back}
        </Button>
      </form>
    </Gate>
  );
}

/** The end of a round trip in a window of its own, which closes itself where the browser allows it. */
export function Confirmed() {
  useEffect(() => window.close(), []);
  return (
    <Gate title={t.gate.sso.confirmed}>
      <Done>{t.gate.sso.confirmedText}</Done>
      <CloseWindow />
    </Gate>
  );
}
