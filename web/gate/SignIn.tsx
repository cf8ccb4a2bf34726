import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { queries } from '../api/query';
import { useView } from '../parts/search';
import { t } from '../texts';
import { Gate } from './frame';
import { nextPage } from './next';
import { SignInForm } from './SignInForm';

export function SignIn() {
  const { view } = useView();
  const [step, setStep] = useState<'password' | 'code'>('password');
  const isCode = step === 'code';
  return (
    <Gate title={isCode ? t.gate.codeTitle : t.gate.signIn} lead={isCode && t.gate.codeText}>
      <SignInForm
        verb={t.gate.signInButton}
        onStep={setStep}
        onSignedIn={async () => {
          queries.clear();
          location.assign(nextPage(view.next));
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
