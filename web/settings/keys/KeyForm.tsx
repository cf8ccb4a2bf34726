import { Checkbox, Input, Radio, TextInput } from '@mantine/core';
import { useState } from 'react';
import { $api, api, type Schemas } from '../../api/client';
import { SERVICE_ACCOUNTS, type ServiceAccount } from '../../api/people';
import { Panel } from '../../parts/Panel';
import { roleWords } from '../../parts/roles';
import { t } from '../../texts';
import { FormBody, useForm } from '../form';
import { Fetched } from '../Section';
import css from '../settings.module.css';
import { usePolicy } from '../signIn/queries';
import { API_KEYS, refetchKeys } from './keys';
import { useExpiry } from './useExpiry';

type NewKey = Schemas['CreateApiKey'];
type Scope = NonNullable<NewKey['scopes']>[number];

type Props = {
  /** The service account as which the key acts; the reader without one. */
  account?: ServiceAccount;
  onClose: () => void;
  onCreated: (secret: string) => void;
};

const create = (body: NewKey, account?: ServiceAccount) =>
  account
    ? api.POST(`${SERVICE_ACCOUNTS}/{id}/api-keys`, { params: { path: { id: account.id } }, body })
    : api.POST(API_KEYS, { body });

/** A name, an end, and as few permissions as the script needs. */
export function KeyForm({ account, onClose, onCreated }: Props) {
  const texts = t.settings.keys;
  const { data: policy } = usePolicy();
  const [name, setName] = useState('');
  const [wantsAll, setWantsAll] = useState(false);
  const [scopes, setScopes] = useState<string[]>([]);
  const mustChoose = policy?.data.apiKeyScopesRequired ?? false;
  const isAll = wantsAll && !mustChoose;
  const form = useForm(['name', 'scopes', 'expiresAt'], async () => {
    if (!isAll && scopes.length === 0) return form.setErrors({ scopes: texts.noScope });
    const { data } = await create({ name, expiresAt: expiresAt(), scopes: isAll ? ['*'] : (scopes as Scope[]) }, account);
    if (data?.key) onCreated(data.key);
    void refetchKeys();
  });
  const { field, expiresAt } = useExpiry({ label: texts.expires, error: form.errors.expiresAt });
  return (
    <Panel title={texts.create} onClose={onClose}>
      <FormBody form={form} verb={texts.create} cancel={{ label: t.actions.cancel, onClick: onClose }}>
        {account && <p className="t2">{texts.actsAs(account.name, roleWords(account.role))}</p>}
        <TextInput
          label={texts.name}
          placeholder={texts.namePlaceholder}
          value={name}
          error={form.errors.name}
          data-autofocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {field}
        {mustChoose ? (
          <Input.Wrapper labelElement="div" label={texts.scopes} description={texts.scopesRequired} error={form.errors.scopes} />
        ) : (
          <Radio.Group
            label={texts.scopes}
            value={isAll ? 'all' : 'chosen'}
            error={form.errors.scopes}
            onChange={(next) => setWantsAll(next === 'all')}
          >
            <Radio value="chosen" label={texts.chosen} size="xs" mt={8} />
            <Radio value="all" label={account ? texts.allOfRole : texts.allOfMine} size="xs" mt={8} />
          </Radio.Group>
        )}
        {!isAll && <Choice value={scopes} onChange={setScopes} />}
      </FormBody>
    </Panel>
  );
}

type ScopeView = Schemas['ScopeView'];

/** Permissions by what they are about. */
function Choice({ value, onChange }: { value: string[]; onChange: (next: string[]) => void }) {
  const available = $api.useQuery('get', '/v1/organization/api-keys/available-scopes');
  return (
    <Fetched of={available}>
      {({ data }) => (
        <div className={css.scopes}>
          <p className="t3" role="status">
            {t.settings.keys.count(value.length)}
          </p>
          {[...grouped(data)].map(([resource, scopes]) => (
            <Group key={resource} resource={resource} scopes={scopes} value={value} onChange={onChange} />
          ))}
        </div>
      )}
    </Fetched>
  );
}

function grouped(scopes: ScopeView[]): Map<string, ScopeView[]> {
  const groups = new Map<string, ScopeView[]>();
  for (const one of scopes) {
    const resource = one.scope.split(':')[0] ?? '';
    groups.set(resource, [...(groups.get(resource) ?? []), one]);
  }
  return groups;
}

type GroupProps = { resource: string; scopes: ScopeView[]; value: string[]; onChange: (next: string[]) => void };

function Group({ resource, scopes, value, onChange }: GroupProps) {
  const name = t.settings.resources[resource] ?? resource;
  const all = scopes.map(({ scope }) => scope);
  const chosen = all.filter((scope) => value.includes(scope));
  const rest = value.filter((scope) => !all.includes(scope));
  const toggle = (scope: string) => onChange(value.includes(scope) ? value.filter((one) => one !== scope) : [...value, scope]);
  return (
    <fieldset>
      <legend>
        <Checkbox
          label={name}
          aria-label={t.settings.keys.selectAll(name)}
          checked={chosen.length === all.length}
          indeterminate={chosen.length > 0 && chosen.length < all.length}
          onChange={() => onChange(chosen.length === all.length ? rest : [...rest, ...all])}
        />
      </legend>
      {scopes.map(({ scope, description }) => (
        <Checkbox
          key={scope}
          label={t.settings.scope(scope, description)}
          description={scope}
          checked={value.includes(scope)}
          onChange={() => toggle(scope)}
        />
      ))}
    </fieldset>
  );
}
