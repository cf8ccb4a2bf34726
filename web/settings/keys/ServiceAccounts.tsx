import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { $api, api } from '../../api/client';
import { SERVICE_ACCOUNTS, type ServiceAccount, usePeople } from '../../api/people';
import { words } from '../../api/problem';
import { refetch } from '../../api/query';
import { useMe } from '../../api/session';
import { roleWords } from '../../parts/roles';
import { StatusPill } from '../../parts/StatusPill';
import { useView } from '../../parts/search';
import { toast } from '../../parts/toast';
import { language, t } from '../../texts';
import { Expiry } from '../expiry';
import { Fetched, Head, Section } from '../Section';
import css from '../settings.module.css';
import { AccountPanel } from './AccountPanel';
import { keysOf, useKeys } from './keys';

/** The service accounts, those without an owner first. */
export function ServiceAccounts() {
  const { view, change } = useView();
  const { can } = useMe();
  const accounts = $api.useQuery('get', SERVICE_ACCOUNTS);
  const { columns, ...texts } = t.settings.serviceAccounts;
  const mayCreate = can('member:create');
  const close = () => void change({ new: undefined, open: undefined }, { replace: true });
  const open = accounts.data?.data.find(({ id }) => id === view.open);
  return (
    <Section
      title={t.settings.sections['service-accounts']}
      lead={texts.lead}
      actions={
        mayCreate && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => void change({ new: 'yes' })}>
            {texts.create}
          </Button>
        )
      }
    >
      <Fetched of={accounts}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="t3">{texts.none}</p>
          ) : (
            <table className={`${css.table} ${css.wide}`}>
              <caption className="hidden-visually">{t.settings.sections['service-accounts']}</caption>
              <Head columns={[columns.name, columns.owner, columns.keys]} />
              <tbody>
                {data.map((account) => (
                  <Line key={account.id} account={account} onOpen={() => void change({ open: account.id })} />
                ))}
              </tbody>
            </table>
          )
        }
      </Fetched>
      {mayCreate && view.new && (
        <AccountPanel onClose={close} onCreated={({ id }) => void change({ new: undefined, open: id }, { replace: true })} />
      )}
      {open && <AccountPanel key={open.id} known={open} onClose={close} />}
    </Section>
  );
}

function Line({ account, onOpen }: { account: ServiceAccount; onOpen: () => void }) {
  const { can } = useMe();
  const people = usePeople();
  const keys = useKeys();
  const texts = t.settings.serviceAccounts;
  const { columns } = texts;
  const { name, description, role, memberId, ownerId, isOrphaned } = account;
  const mayChange = can('member:update');
  const { count, first } = keysOf(keys.data?.data ?? [], memberId);
  return (
    <tr>
      <td data-label={columns.name}>
        <b>{name}</b>
        <span className={css.answer}>{roleWords(role)}</span>
        <span className={css.answer}>{description}</span>
      </td>
      <td data-label={columns.owner}>
        {isOrphaned ? <StatusPill label={t.record.noOwner} tone="warn" shape="alert" /> : (people.name(ownerId) ?? ownerId)}
        {isOrphaned && mayChange && (
          <span className={css.answer}>
            <TakeOver of={account} />
          </span>
        )}
      </td>
      <td data-label={columns.keys} className="t2">
        <span className="num">{keys.data && count.toLocaleString(language)}</span>
        {first && (
          <span className={css.answer}>
            {columns.expires} <Expiry of={first} />
          </span>
        )}
      </td>
      <td data-align="right">
        <Button size="xs" variant="subtle" aria-label={mayChange ? texts.editOf(name) : texts.openOf(name)} onClick={onOpen}>
          {mayChange ? t.actions.edit : t.actions.open}
        </Button>
      </td>
    </tr>
  );
}

/** Makes the reader the owner of an account that has none. */
function TakeOver({ of: { id, name } }: { of: ServiceAccount }) {
  const { memberId } = useMe();
  const texts = t.settings.serviceAccounts;
  const takeOver = async () => {
    await api.PATCH(`${SERVICE_ACCOUNTS}/{id}`, { params: { path: { id } }, body: { ownerId: memberId } });
    await refetch(SERVICE_ACCOUNTS);
    toast(texts.takenOver(name));
  };
  return (
    <Button
      size="xs"
      variant="default"
      aria-label={texts.takeOverOf(name)}
      onClick={() => void takeOver().catch((problem) => toast(words(problem), { bad: true }))}
    >
      {texts.takeOver}
    </Button>
  );
}
