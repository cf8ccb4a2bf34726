import { TextInput } from '@mantine/core';
import type { KeyboardEvent } from 'react';
import { hasPasskeys } from '../api/passkeys';
import { queries } from '../api/query';
import { domainOf, offerQuery } from '../api/sso';
import { t } from '../texts';
import type { useForm } from './frame';
import { leaveFor } from './Sso';

type Props = ReturnType<ReturnType<typeof useForm>['field']> & {
  /** The page that single sign-on leads to. */
  next: string;
  isOtherWay: boolean;
  onBlur: () => void;
};

/** The address of the account. Enter goes on by single sign-on where nothing else signs in, or else to the password. */
export function EmailInput({ next, isOtherWay, ...field }: Props) {
  async function goOn(event: KeyboardEvent<HTMLInputElement>) {
    const password = event.currentTarget.form?.elements.namedItem('password');
    const isTyped = password instanceof HTMLInputElement && password.value !== '';
    if (event.key !== 'Enter' || isTyped || !domainOf(field.value)) return;
    event.preventDefault();
    const offer = await queries.fetchQuery(offerQuery(field.value)).catch(() => null);
    if (offer?.isRequired && !isOtherWay) return leaveFor(offer, next, field.value.trim());
    if (password instanceof HTMLInputElement) password.focus();
  }
  return (
    <TextInput
      label={t.gate.email}
      type="email"
      autoComplete={hasPasskeys() ? 'username webauthn' : 'username'}
      required
      withAsterisk={false}
      autoFocus
      onKeyDown={(event) => void goOn(event)}
      {...field}
    />
  );
}
