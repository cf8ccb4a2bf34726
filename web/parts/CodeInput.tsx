import { TextInput, type TextInputProps } from '@mantine/core';
import { t } from '../texts';

/** A code of the authenticator app, which browsers and password managers can fill in, or a recovery code. */
export function CodeInput({ isRecovery = false, ...props }: TextInputProps & { isRecovery?: boolean }) {
  const { label, description } = isRecovery
    ? { label: t.security.recoveryCode, description: t.security.recoveryCodeHelp }
    : { label: t.security.code, description: t.security.codeHelp };
  return (
    <TextInput
      label={label}
      description={description}
      autoComplete={isRecovery ? 'off' : 'one-time-code'}
      inputMode={isRecovery ? 'text' : 'numeric'}
      autoCapitalize="none"
      spellCheck={false}
      maxLength={32}
      classNames={{ input: 'mono' }}
      {...props}
    />
  );
}
