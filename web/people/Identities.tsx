import { Button } from '@mantine/core';
import { $api, api, type Schemas } from '../api/client';
import type { Member } from '../api/people';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { useConfirm } from '../parts/confirm';
import { SectionError } from '../parts/ErrorPage';
import { moment } from '../parts/format';
import { isOwner } from '../parts/roles';
import { toast } from '../parts/toast';
import { t } from '../texts';
import css from './people.module.css';

/** The identities of a member at the organization's identity providers. */
export function Identities({ member }: { member: Member }) {
  const identities = $api.useQuery('get', '/v1/people/{id}/identities', { params: { path: { id: member.id } } });
  const connections = $api.useQuery('get', '/v1/organization/sso-connections');
  if (identities.error) return <SectionError error={identities.error} onRetry={() => void identities.refetch()} />;
  if (!identities.data?.data.length) return null;
  const nameOf = (id: string) => connections.data?.data.find((one) => one.id === id)?.name ?? t.people.identity;
  return (
    <section className={css.identities}>
      <h3>{t.people.identities}</h3>
      <ul>
        {identities.data.data.map((identity) => (
          <Line key={identity.id} member={member} identity={identity} connection={nameOf(identity.connectionId)} />
        ))}
      </ul>
    </section>
  );
}

type LineProps = { member: Member; identity: Schemas['SsoIdentity']; connection: string };

function Line({ member, identity: { id, email, subject, lastUsedAt }, connection }: LineProps) {
  const { can } = useMe();
  const { ask, dialog } = useConfirm();
  const texts = t.people;
  const mayUnlink = can('identity:update') && (!isOwner(member) || can('owner:manage'));
  const unlink = async () => {
    const path = { id: member.id, identityId: id };
    await api.DELETE('/v1/people/{id}/identities/{identityId}', { params: { path } });
    await refetch('/v1/people');
    toast(texts.unlinked(connection));
  };
  return (
    <li>
      <span>
        <b>{connection}</b> {email ?? subject}
        <small className="t3">{texts.usedAt(moment(lastUsedAt))}</small>
      </span>
      {mayUnlink && (
        <Button
          size="xs"
          variant="subtle"
          aria-label={texts.unlinkOf(connection)}
          onClick={() =>
            ask({
              title: texts.unlinkAsk(connection, member.user.name),
              text: texts.unlinkText,
              verb: texts.unlink,
              act: unlink,
            })
          }
        >
          {texts.unlink}
        </Button>
      )}
      {dialog}
    </li>
  );
}
