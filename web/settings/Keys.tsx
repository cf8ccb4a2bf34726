import { Button, Checkbox, Modal, Radio, Select, TextInput } from '@mantine/core';
import { IconCopy, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { $api, api, type Schemas } from '../api/client';
import { usePeople } from '../api/people';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { useConfirm } from '../parts/confirm';
import { day, moment } from '../parts/format';
import { Panel } from '../parts/Panel';
import { useView } from '../parts/search';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { FormBody, useForm } from './form';
import { Fetched, Head, Section } from './Section';
import css from './settings.module.css';

type Key = Schemas['ApiKey'];
type Scope = NonNullable<Schemas['CreateApiKey']['scopes']>[number];
const PATH = '/v1/organization/api-keys';
const DAY = 86_400_000;

export function Keys() {
  const { view, change } = useView();
  const { can } = useMe();
  const keys = $api.useQuery('get', PATH, { params: { query: { limit: 1000 } } });
  const [made, setMade] = useState<string>();
  const texts = t.settings.keys;
  const close = () => void change({ new: undefined }, { replace: true });
  return (
    <Section
      title={t.settings.sections.keys}
      lead={texts.lead}
      actions={
        can('api-key:create') && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => void change({ new: 'yes' })}>
            {texts.create}
          </Button>
        )
      }
    >
      <Fetched of={keys}>{({ data }) => <List keys={data} />}</Fetched>
      {view.new && can('api-key:create') && (
        <Create
          onClose={close}
          onMade={(key) => {
            setMade(key);
            close();
          }}
        />
      )}
      {made && <Made secret={made} onClose={() => setMade(undefined)} />}
    </Section>
  );
}

function List({ keys }: { keys: Key[] }) {
  const { columns, none } = t.settings.keys;
  if (keys.length === 0) return <p className="t3">{none}</p>;
  return (
    <table className={css.table}>
      <caption className="hidden-visually">{t.settings.sections.keys}</caption>
      <Head columns={[columns.name, columns.scopes, columns.member, columns.used, columns.expires]} />
      <tbody>
        {keys.map((key) => (
          <Line key={key.id} of={key} />
        ))}
      </tbody>
    </table>
  );
}

function Line({ of: key }: { of: Key }) {
  const { can } = useMe();
  const people = usePeople();
  const { ask, dialog } = useConfirm();
  const texts = t.settings.keys;
  const isOver = key.expiresAt !== null && key.expiresAt < new Date().toISOString();
  const act = async () => {
    await api.DELETE('/v1/organization/api-keys/{id}', { params: { path: { id: key.id } } });
    await refetch(PATH);
    toast(texts.revoked(key.name));
  };
  return (
    <tr>
      <td data-label={texts.columns.name}>
        <b>{key.name}</b> <span className="mono t3">atk_{key.prefix}_…</span>
      </td>
      <td data-label={texts.columns.scopes} title={key.scopes.join(', ')}>
        <Scopes scopes={key.scopes} />
      </td>
      <td data-label={texts.columns.member}>{people.name(key.memberId) ?? key.memberId}</td>
      <td data-label={texts.columns.used} className="t2">
        {key.lastUsedAt ? moment(key.lastUsedAt) : texts.never}
      </td>
      <td data-label={texts.columns.expires} className="t2">
        {key.expiresAt ? day(new Date(key.expiresAt)) : texts.never} {isOver && `(${texts.expired})`}
      </td>
      <td data-align="right">
        {can('api-key:delete') && (
          <Button
            size="xs"
            variant="subtle"
            aria-label={texts.revokeOf(key.name)}
            onClick={() => ask({ title: texts.revokeAsk(key.name), text: texts.revokeText, verb: texts.revoke, act })}
          >
            {texts.revoke}
          </Button>
        )}
        {dialog}
      </td>
    </tr>
  );
}

const FEW = 3;

function Scopes({ scopes }: { scopes: string[] }) {
  const texts = t.settings.keys;
  if (scopes.includes('*')) return <>{texts.all}</>;
  const more = scopes.length - FEW;
  return (
    <>
      <span className="mono">{scopes.slice(0, FEW).join(', ')}</span>
      {more > 0 && <span className="t3"> + {texts.more(more)}</span>}
    </>
  );
}

/** A name, an end, and as few permissions as the script needs. */
function Create({ onClose, onMade }: { onClose: () => void; onMade: (key: string) => void }) {
  const texts = t.settings.keys;
  const [name, setName] = useState('');
  const [expiry, setExpiry] = useState('90');
  const [isAll, setAll] = useState(false);
  const [scopes, setScopes] = useState<string[]>([]);
  const form = useForm(['name', 'scopes', 'expiresAt'], async () => {
    if (!isAll && scopes.length === 0) return form.setErrors({ scopes: texts.noScope });
    const expiresAt = expiry === 'never' ? null : new Date(Date.now() + Number(expiry) * DAY).toISOString();
    const { data } = await api.POST(PATH, { body: { name, expiresAt, scopes: isAll ? ['*'] : (scopes as Scope[]) } });
    await refetch(PATH);
    if (data?.key) onMade(data.key);
  });
  return (
    <Panel title={texts.create} onClose={onClose}>
      <FormBody form={form} verb={texts.create} cancel={{ label: t.actions.cancel, onClick: onClose }}>
        <TextInput
          label={texts.name}
          placeholder={texts.namePlaceholder}
          value={name}
          error={form.errors.name}
          data-autofocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Select
          label={texts.expiry}
          data={Object.entries(texts.expiries).map(([value, label]) => ({ value, label }))}
          value={expiry}
          error={form.errors.expiresAt}
          allowDeselect={false}
          onChange={(next) => setExpiry(next ?? '90')}
        />
        <Radio.Group
          label={texts.scopes}
          value={isAll ? 'all' : 'chosen'}
          error={form.errors.scopes}
          onChange={(next) => setAll(next === 'all')}
        >
          <Radio value="chosen" label={texts.chosen} size="xs" mt={8} />
          <Radio value="all" label={texts.allOfMine} size="xs" mt={8} />
        </Radio.Group>
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

/** The only time a key is seen. It is left by saying so, not by a stray click. */
function Made({ secret, onClose }: { secret: string; onClose: () => void }) {
  const texts = t.settings.keys;
  return (
    <Modal
      opened
      onClose={onClose}
      title={texts.created}
      centered
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      attributes={{ header: { role: 'presentation' } }}
    >
      <p className="t2">{texts.createdText}</p>
      <code className={css.secret}>{secret}</code>
      <div className={css.buttons}>
        <Button variant="default" onClick={onClose}>
          {texts.done}
        </Button>
        <Button
          leftSection={<IconCopy size={16} stroke={1.6} />}
          data-autofocus
          onClick={() => void navigator.clipboard.writeText(secret).then(() => toast(t.actions.copied))}
        >
          {texts.copy}
        </Button>
      </div>
    </Modal>
  );
}
