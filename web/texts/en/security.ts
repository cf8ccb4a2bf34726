import { n } from './shared';

/** Second factors and passkeys: what the settings and the sign-in over a page share. */
export const security = {
  code: 'Code from your authenticator app',
  codeHelp: 'Six digits.',
  recoveryCode: 'Recovery code',
  recoveryCodeHelp: 'One of the ten codes you stored. Each works once.',
  confirm: 'Confirm',
  confirmTitle: 'Confirm that it is you',
  confirmText: 'This change needs a confirmation that is less than ten minutes old.',
  byPasskey: 'You confirm with your passkey.',
  usePassword: 'Use your password instead',
  usePasskey: 'Use a passkey instead',
  ceremony: {
    cancelled: 'No passkey was used. Try again, or choose another way.',
    known: 'This device already has a passkey for your account.',
  },
  app: {
    title: 'Authenticator app',
    lead: 'A code from an app on your phone, together with your password.',
    setUp: 'Set up app',
    panel: 'Set up authenticator app',
    scan: 'Scan this code with your authenticator app, such as the one of your password manager.',
    qr: 'QR code for the authenticator app',
    manual: 'Or type this key into the app:',
    copy: 'Copy the key',
    here: 'Open in an app on this device',
    codeHelp: 'The six digits that the app shows now.',
    activate: 'Activate',
    expired: 'The key has expired. Nothing was changed.',
    again: 'Start again',
  },
  recovery: {
    title: 'Recovery codes',
    text: 'Each code replaces the app once, for example if you lose your phone. They are shown only now; store them where others cannot read them.',
    head: (email: string, day: string) => `Attestry recovery codes of ${email}, ${day}`,
    once: 'Each code works once.',
    file: 'attestry-recovery-codes',
    print: 'Print',
    stored: 'I have stored them',
    left: (count: number) => `${n(count, 'code', 'codes')} left`,
  },
  passkeys: {
    title: 'Passkeys',
    lead: 'Sign in with your fingerprint, face or PIN. No password and no code are needed.',
    add: 'Add passkey',
  },
};
