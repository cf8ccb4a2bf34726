import { Button } from '@mantine/core';
import { $api, api } from '../../api/client';
import type { Answer } from '../../api/paths';
import { words } from '../../api/problem';
import { useMe } from '../../api/session';
import { useConfirm } from '../../parts/confirm';
import { useConfirmed } from '../../parts/confirmed';
import { day, moment } from '../../parts/format';
import { toast } from '../../parts/toast';
import { Way, Ways } from '../../parts/Way';
import { t } from '../../texts';
import { Head, Section } from '../Section';
import css from '../settings.module.css';
import { CONNECTIONS } from '../signIn/queries';
import { changed, type SECURITY } from './queries';

type Identity = Answer<typeof SECURITY>['identities'][number];

/** The identities at providers that the user signs in with, and the connections that can be linked. */
export function Identities({ identities }: { identities: Identity[] }) {
  const { membership, can } = useMe();
  const connections = $api.useQuery('get', CONNECTIONS, {}, { enabled: can('identity:read') });
  const texts = t.signIn.identities;
  const isLinked = (id: string) => identities.some(({ connectionId }) => connectionId === id);
  const free = connections.data?.data.filter(({ id, isEnabled }) => isEnabled && !isLinked(id)) ?? [];
  if (identities.length === 0 && free.length === 0) return null;
  return (
    <Section title={texts.title} lead={texts.lead}>
      {identities.length > 0 && (
        <table className={css.table}>
          <caption className="hidden-visually">{texts.title}</caption>
          <Head columns={[texts.columns.connection, texts.columns.email, texts.columns.added, texts.columns.used]} />
          <tbody>
            {identities.map((identity) => (
              <Line key={identity.id} identity={identity} />
            ))}
          </tbody>
        </table>
      )}
      {free.length > 0 && (
        <Ways>
          {free.map((connection) => (
            <Free key={connection.id} {...connection} organization={membership?.name ?? ''} />
          ))}
        </Ways>
      )}
    </Section>
  );
}

function Line({ identity: { id, connectionName, email, createdAt, lastUsedAt } }: { identity: Identity }) {
  const { ask, dialog } = useConfirm();
  const texts = t.signIn.identities;
  const { columns } = texts;
  const remove = async () => {
    await api.DELETE('/v1/auth/identities/{id}', { params: { path: { id } } });
    await changed(texts.removed(connectionName));
  };
  return (
    <tr>
      <td data-label={columns.connection}>
        <b>{connectionName}</b>
      </td>
      <td data-label={columns.email}>{email ?? t.edits.none}</td>
      <td data-label={columns.added} className="t2">
        {day(new Date(createdAt))}
      </td>
      <td data-label={columns.used} className="t2">
        {moment(lastUsedAt)}
      </td>
      <td data-align="right">
        <Button
          size="xs"
          variant="subtle"
          aria-label={texts.removeOf(connectionName)}
          onClick={() =>
            ask({
              title: texts.removeAsk(connectionName),
              text: texts.removeText,
              verb: t.actions.remove,
              withIdentity: true,
              isOfAccount: true,
              act: remove,
            })
          }
        >
          {t.actions.remove}
        </Button>
        {dialog}
      </td>
    </tr>
  );
}

/** A connection of the organization to which no identity of the user is linked. */
function Free({ id, name, organization }: { id: string; name: string; organization: string }) {
  const { run, dialog } = useConfirmed({ isOfAccount: true });
  const texts = t.signIn.identities;
  const link = () =>
    run(async () => {
      const { data } = await api.POST('/v1/auth/sso/{connectionId}/start-ticket', {
        params: { path: { connectionId: id } },
        body: { purpose: 'link', next: '/settings/account' },
      });
      location.assign(data?.startUrl ?? '');
    }).catch((problem) => toast(words(problem), { bad: true }));
  return (
    <Way
      title={name}
      hint={texts.free(organization)}
      actions={
        <Button variant="default" onClick={() => void link()}>
          {texts.link(name)}
        </Button>
      }
    >
      {dialog}
    </Way>
  );
}
