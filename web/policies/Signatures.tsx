import { Button } from '@mantine/core';
import { IconBell } from '@tabler/icons-react';
import { useState } from 'react';
import { api, type Schemas } from '../api/client';
import { words } from '../api/problem';
import { useMe } from '../api/session';
import { SectionError } from '../parts/ErrorPage';
import { moment, utc } from '../parts/format';
import { Person } from '../parts/Person';
import { StatusPill } from '../parts/StatusPill';
import { toast } from '../parts/toast';
import { t } from '../texts';
import css from './Detail.module.css';
import type { PolicyView } from './fields';
import { useSignatures } from './queries';

type Signer = Schemas['PolicySigner'];

/** Who has signed what is published, and who has not. */
export function Signatures({ policy }: { policy: PolicyView }) {
  const { data, error, refetch } = useSignatures(policy.id);
  const { can } = useMe();
  const [busy, setBusy] = useState(false);
  if (error) return <SectionError error={error} onRetry={() => void refetch()} />;
  if (!data) return null;
  if (!policy.isPublished) return <p className="t2">{t.policies.signLater}</p>;

  async function remind() {
    setBusy(true);
    try {
      const { data: done } = await api.POST('/v1/policies/{id}/remind', { params: { path: { id: policy.id } } });
      toast(t.policies.reminded(done?.remindedCount ?? 0));
    } catch (problem) {
      toast(words(problem), { bad: true });
    } finally {
      setBusy(false);
    }
  }

  const missing = data.data.filter((one) => one.hasToSign && !one.hasSigned);
  const signed = data.data.filter((one) => one.hasSigned);
  return (
    <>
      <div className={css.bar}>
        <p>
          <b>{t.policies.signed(data.signedCount, data.signedCount + data.missingCount)}</b>{' '}
          {!policy.isRequiredToSign && <span className="t3">{t.policies.notAsked}</span>}
        </p>
        {missing.length > 0 && can('policy:update') && (
          <Button
            variant="default"
            loading={busy}
            leftSection={<IconBell size={16} stroke={1.6} />}
            onClick={() => void remind()}
          >
            {t.policies.remind(missing.length)}
          </Button>
        )}
      </div>
      <Group title={t.policies.missing(missing.length)} rows={missing} />
      <Group title={t.policies.haveSigned(signed.length)} rows={signed} />
    </>
  );
}

function Group({ title, rows }: { title: string; rows: Signer[] }) {
  if (rows.length === 0) return null;
  return (
    <section className={css.group}>
      <h2>{title}</h2>
      <table className={css.rows}>
        <caption className="hidden-visually">{title}</caption>
        <thead>
          <tr>
            <th scope="col">{t.record.person}</th>
            <th scope="col">{t.policies.email}</th>
            <th scope="col">{t.policies.columns.signature}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((one) => (
            <tr key={one.memberId}>
              <td>
                <Person name={one.name} />
              </td>
              <td className="t2">{one.email}</td>
              <td>
                <State signer={one} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function State({ signer }: { signer: Signer }) {
  const v = signer.version ? t.policies.v(signer.version) : '';
  if (signer.hasSigned && signer.signedAt)
    return (
      <time dateTime={signer.signedAt} title={utc(signer.signedAt)} className="num">
        {v} · {moment(signer.signedAt)}
      </time>
    );
  return <StatusPill label={v ? t.policies.signedOlder(v) : t.policies.notYet} tone="mute" shape="ring" />;
}
