import { Button, Select } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client';
import { usePeople } from '../../api/people';
import { useMe } from '../../api/session';
import { useConfirm } from '../../parts/confirm';
import { Dialog } from '../../parts/Dialog';
import { moment } from '../../parts/format';
import { StatusPill } from '../../parts/StatusPill';
import { toast } from '../../parts/toast';
import { t } from '../../texts';
import { Expiry } from '../expiry';
import { Head } from '../Section';
import css from '../settings.module.css';
import { usePolicy } from '../signIn/queries';
import { API_KEYS, isBeyond, type Key, refetchKeys } from './keys';
import { useExpiry } from './useExpiry';

type Props = {
  keys: Key[];
  caption: string;
  /** All keys act as the same member. */
  isOfOne?: boolean;
  /** Shows the key that replaces a rotated one. */
  onCreated: (secret: string) => void;
};

export function KeyTable({ keys, caption, isOfOne = false, onCreated }: Props) {
  const { columns } = t.settings.keys;
  return (
    <table className={`${css.table} ${css.wide}`}>
      <caption className="hidden-visually">{caption}</caption>
      <Head columns={[columns.name, ...(isOfOne ? [] : [columns.member]), columns.used, columns.expires]} />
      <tbody>
        {keys.map((key) => (
          <Line key={key.id} of={key} isOfOne={isOfOne} onCreated={onCreated} />
        ))}
      </tbody>
    </table>
  );
}

type LineProps = { of: Key; isOfOne: boolean } & Pick<Props, 'onCreated'>;

function Line({ of: key, isOfOne, onCreated }: LineProps) {
  const people = usePeople();
  const texts = t.settings.keys;
  const { columns } = texts;
  return (
    <tr>
      <td data-label={columns.name}>
        <b>{key.name}</b> <span className="mono t3">atk_{key.prefix}_…</span>{' '}
        {isBeyond(key) && <StatusPill label={texts.beyond} tone="warn" shape="alert" />}
        <span className={css.answer} title={key.scopes.join(', ')}>
          <Scopes scopes={key.scopes} />
        </span>
      </td>
      {!isOfOne && (
        <td data-label={columns.member}>
          {people.name(key.memberId) ?? key.memberId}
          {key.kind === 'service' && <span className={css.answer}>{texts.service}</span>}
        </td>
      )}
      <td data-label={columns.used} className="t2">
        {key.lastUsedAt ? moment(key.lastUsedAt) : texts.never}
        {key.lastUsedIp && <span className={`${css.answer} mono`}>{key.lastUsedIp}</span>}
      </td>
      <td data-label={columns.expires} className="t2">
        <Expiry of={key} />
      </td>
      <td data-align="right">
        <Rotate of={key} onCreated={onCreated} />
        <Revoke of={key} />
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

function Revoke({ of: { id, name } }: { of: Key }) {
  const { can } = useMe();
  const { ask, dialog } = useConfirm();
  const texts = t.settings.keys;
  const act = async () => {
    await api.DELETE(`${API_KEYS}/{id}`, { params: { path: { id } } });
    await refetchKeys();
    toast(texts.revoked(name));
  };
  if (!can('api-key:delete')) return null;
  return (
    <>
      <Button
        size="xs"
        variant="subtle"
        aria-label={texts.revokeOf(name)}
        onClick={() => ask({ title: texts.revokeAsk(name), text: texts.revokeText, verb: texts.revoke, act })}
      >
        {texts.revoke}
      </Button>
      {dialog}
    </>
  );
}

type RotateProps = { of: Key } & Pick<Props, 'onCreated'>;

/** The button for a key that the reader may rotate: their own, or one of a service account. */
function Rotate({ of: key, onCreated }: RotateProps) {
  const { can, memberId } = useMe();
  const { data: policy } = usePolicy();
  const [isAsking, setAsking] = useState(false);
  const texts = t.settings.keys;
  const isOwn = key.kind === 'service' || key.memberId === memberId;
  // The new key would have all permissions, too.
  const isRefused = policy?.data.apiKeyScopesRequired && key.scopes.includes('*');
  if (!can('api-key:create') || !isOwn || isRefused) return null;
  return (
    <>
      <Button size="xs" variant="subtle" aria-label={texts.rotateOf(key.name)} onClick={() => setAsking(true)}>
        {texts.rotate}
      </Button>
      {isAsking && <Rotation of={key} onCreated={onCreated} onClose={() => setAsking(false)} />}
    </>
  );
}

const DEFAULT_OVERLAP_HOURS = '24';

function Rotation({ of: { id, name }, onCreated, onClose }: RotateProps & { onClose: () => void }) {
  const texts = t.settings.keys;
  const [overlap, setOverlap] = useState<string | null>(DEFAULT_OVERLAP_HOURS);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const { field, expiresAt } = useExpiry({ label: texts.newExpires, error: errors.expiresAt });
  const rotate = async () => {
    const body = { overlapHours: Number(overlap), expiresAt: expiresAt() };
    const { data } = await api.POST(`${API_KEYS}/{id}/rotate`, { params: { path: { id } }, body });
    if (data?.key) onCreated(data.key);
    void refetchKeys();
  };
  return (
    <Dialog
      title={texts.rotateAsk(name)}
      verb={texts.rotate}
      fields={['overlapHours', 'expiresAt']}
      onErrors={setErrors}
      act={rotate}
      onClose={onClose}
    >
      <p className="t2">{texts.rotateText}</p>
      <Select
        label={texts.oldStops}
        data={Object.entries(texts.overlaps).map(([value, label]) => ({ value, label }))}
        value={overlap}
        error={errors.overlapHours}
        allowDeselect={false}
        onChange={setOverlap}
      />
      {field}
    </Dialog>
  );
}
