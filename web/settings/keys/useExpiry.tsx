import { Select } from '@mantine/core';
import { useState } from 'react';
import { t } from '../../texts';
import { usePolicy } from '../signIn/queries';
import { defaultExpiry, expiryChoices, expiryTime } from './keys';

type Options = { label: string; error?: string };

/** The field for the expiry of a new key, and the time that was chosen. */
export function useExpiry({ label, error }: Options) {
  const { data: policy } = usePolicy();
  const [chosen, choose] = useState<string | null>(null);
  const max = policy?.data.apiKeyMaxDays ?? null;
  const choices = expiryChoices(max);
  const expiry = choices.find(({ value }) => value === chosen)?.value ?? defaultExpiry(max);
  const field = (
    <Select
      label={label}
      description={max !== null && t.settings.keys.limit(max)}
      data={choices}
      value={expiry}
      error={error}
      allowDeselect={false}
      onChange={choose}
    />
  );
  return { field, expiresAt: () => expiryTime(expiry, max) };
}
