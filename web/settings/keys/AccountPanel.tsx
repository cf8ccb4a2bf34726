import { Button } from '@mantine/core';
import { useState } from 'react';
import { $api, api } from '../../api/client';
import { SERVICE_ACCOUNTS, type ServiceAccount, usePeople } from '../../api/people';
import { useMe } from '../../api/session';
import { useConfirm } from '../../parts/confirm';
import { Field } from '../../parts/Field';
import { Panel } from '../../parts/Panel';
import { roleWords } from '../../parts/roles';
import { toast } from '../../parts/toast';
import { t } from '../../texts';
import { Fetched } from '../Section';
import css from '../settings.module.css';
import { AccountForm } from './AccountForm';
import { CreatedKey } from './CreatedKey';
import { KeyForm } from './KeyForm';
import { KeyTable } from './KeyTable';
import { refetchKeys } from './keys';

type Props = {
  /** None for an account to create. */
  known?: ServiceAccount;
  onClose: () => void;
  onCreated?: (created: ServiceAccount) => void;
};

/** A service account with its keys. A key to create, and one that was created, take the place of the account. */
export function AccountPanel({ known, onClose, onCreated }: Props) {
  const { can } = useMe();
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string>();
  const show = (created: string) => {
    setSecret(created);
    setAdding(false);
  };
  if (secret) return <CreatedKey secret={secret} onClose={() => setSecret(undefined)} />;
  if (known && isAdding) return <KeyForm account={known} onClose={() => setAdding(false)} onCreated={show} />;
  return (
    <Panel title={known?.name ?? t.settings.serviceAccounts.create} onClose={onClose} isWide>
      {!known || can('member:update') ? (
        <AccountForm known={known} onClose={onClose} onCreated={onCreated} />
      ) : (
        <Shown of={known} />
      )}
      {known && <AccountKeys of={known} onAdd={() => setAdding(true)} onCreated={show} />}
      {known && can('member:delete') && <Delete account={known} onClose={onClose} />}
    </Panel>
  );
}

/** An account for readers who cannot change it. */
function Shown({ of: { description, role, ownerId, isOrphaned } }: { of: ServiceAccount }) {
  const people = usePeople();
  const texts = t.settings.serviceAccounts;
  return (
    <dl className={css.part}>
      <Field name="description" label={texts.purpose} kind="text" value={null}>
        {description}
      </Field>
      <Field name="role" label={texts.role} kind="text" value={null}>
        {roleWords(role)}
      </Field>
      <Field name="ownerId" label={texts.owner} kind="text" value={null}>
        {isOrphaned ? t.record.noOwner : (people.name(ownerId) ?? ownerId)}
      </Field>
    </dl>
  );
}

type KeysProps = { of: ServiceAccount; onAdd: () => void; onCreated: (secret: string) => void };

function AccountKeys({ of: { id, name }, onAdd, onCreated }: KeysProps) {
  const { can } = useMe();
  const keys = $api.useQuery('get', `${SERVICE_ACCOUNTS}/{id}/api-keys`, { params: { path: { id } } });
  const texts = t.settings.keys;
  return (
    <section className={css.part}>
      <div className={css.head}>
        <h3>{t.settings.sections.keys}</h3>
        {can('api-key:create') && (
          <Button variant="default" onClick={onAdd}>
            {texts.create}
          </Button>
        )}
      </div>
      <Fetched of={keys}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="t3">{texts.none}</p>
          ) : (
            <KeyTable keys={data} caption={texts.of(name)} isOfOne onCreated={onCreated} />
          )
        }
      </Fetched>
    </section>
  );
}

function Delete({ account: { id, name }, onClose }: { account: ServiceAccount; onClose: () => void }) {
  const { ask, dialog } = useConfirm();
  const texts = t.settings.serviceAccounts;
  const remove = async () => {
    await api.DELETE(`${SERVICE_ACCOUNTS}/{id}`, { params: { path: { id } } });
    onClose();
    await refetchKeys();
    toast(texts.deleted(name));
  };
  return (
    <div className={css.part}>
      <Button
        variant="default"
        className={css.danger}
        onClick={() => ask({ title: texts.deleteAsk(name), text: texts.deleteText, verb: texts.delete, act: remove })}
      >
        {texts.delete}
      </Button>
      {dialog}
    </div>
  );
}
