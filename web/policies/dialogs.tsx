import { Select, Textarea } from '@mantine/core';
import { type ComponentProps, useState } from 'react';
import { api } from '../api/client';
import { usePeople } from '../api/people';
import { refetch } from '../api/query';
import type { Versioned } from '../api/records';
import { useMe } from '../api/session';
import { Dialog } from '../parts/Dialog';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { approvers, type PolicyView } from './fields';

type Props = { record: Versioned<PolicyView>; onClose: () => void };
type Undecided = Props & { undecided: number };

/** Asks before something that others will see. */
function Ask({ act, done, ...rest }: ComponentProps<typeof Dialog> & { done: string }) {
  async function go() {
    try {
      await act();
    } catch (error) {
      // Somebody else may have been here first: the page behind shows what is true now.
      void refetch('/v1/policies');
      throw error;
    }
    await refetch('/v1/policies', '/v1/comments');
    toast(done);
  }
  return <Dialog {...rest} act={go} />;
}

const matching = (version: string | null) => (version ? { 'If-Match': version } : {});

const Open = ({ count }: { count: number }) =>
  count > 0 ? (
    <p role="note" style={{ color: 'var(--c-warn-text)' }}>
      {t.policies.undecided(count)}
    </p>
  ) : null;

/** Points out that somebody approves what they submitted themselves. */
const OwnWork = () => (
  <p role="note" style={{ color: 'var(--c-warn-text)' }}>
    {t.policies.ownWork}
  </p>
);

export function Submit({ record, undecided, onClose }: Undecided) {
  const { data: policy, version } = record;
  const people = usePeople();
  const { memberId } = useMe();
  const choices = approvers(people.active);
  const first = choices.find(({ id }) => id === policy.approverId) ?? choices.find(({ id }) => id !== memberId) ?? choices[0];
  const [chosen, setChosen] = useState<string | null>();
  const approverId = chosen === undefined ? (first?.id ?? null) : chosen;
  return (
    <Ask
      title={t.policies.submitAsk(policy.name)}
      verb={t.policies.submit}
      done={t.policies.submitted(people.name(approverId) ?? '')}
      isReady={approverId !== null}
      act={() =>
        api.POST('/v1/policies/{id}/submit-for-approval', {
          params: { path: { id: policy.id }, header: matching(version) },
          body: { approverId: approverId ?? '' },
        })
      }
      onClose={onClose}
    >
      <p className="t2">{t.policies.submitText}</p>
      <Select
        label={t.policies.fields.approverId}
        data={choices.map(({ id, user }) => ({ value: id, label: id === memberId ? t.policies.me(user.name) : user.name }))}
        value={approverId}
        searchable={choices.length > 8}
        allowDeselect={false}
        onChange={setChosen}
        data-autofocus
      />
      {approverId === memberId && <OwnWork />}
      <Open count={undecided} />
    </Ask>
  );
}

export function Approve({ record, undecided, onClose }: Undecided) {
  const { data: policy, version } = record;
  const next = t.policies.v((policy.currentVersion ?? 0) + 1);
  return (
    <Ask
      title={t.policies.approveAsk(policy.name)}
      verb={t.policies.approveAndPublish(next)}
      done={t.policies.approved(next)}
      withPassword
      act={() => api.POST('/v1/policies/{id}/approve', { params: { path: { id: policy.id }, header: matching(version) } })}
      onClose={onClose}
    >
      <p className="t2">{policy.isRequiredToSign ? t.policies.approveSign : t.policies.approveText}</p>
      {policy.submittedById === policy.approverId && <OwnWork />}
      <Open count={undecided} />
    </Ask>
  );
}

export function Deny({ record, onClose }: Props) {
  const { data: policy, version } = record;
  const [comment, setComment] = useState('');
  return (
    <Ask
      title={t.policies.denyAsk(policy.name)}
      verb={t.policies.deny}
      done={t.policies.denied}
      isReady={comment.trim() !== ''}
      act={() =>
        api.POST('/v1/policies/{id}/deny', {
          params: { path: { id: policy.id }, header: matching(version) },
          body: { comment: comment.trim() },
        })
      }
      onClose={onClose}
    >
      <Textarea
        label={t.policies.denyWhy}
        description={t.policies.denyHelp}
        autosize
        minRows={3}
        maxLength={2000}
        value={comment}
        onChange={(event) => setComment(event.currentTarget.value)}
        data-autofocus
      />
    </Ask>
  );
}

export function Sign({ record, onClose }: Props) {
  const { data: policy } = record;
  const v = t.policies.v(policy.currentVersion ?? 1);
  return (
    <Ask
      title={t.policies.signAsk(policy.name, v)}
      verb={t.policies.sign(v)}
      done={t.policies.signedNow(v)}
      withPassword
      act={() =>
        api.POST('/v1/policies/{id}/sign', {
          params: { path: { id: policy.id } },
          body: policy.currentVersionId ? { versionId: policy.currentVersionId } : {},
        })
      }
      onClose={onClose}
    >
      <p className="t2">{t.policies.signText}</p>
    </Ask>
  );
}
