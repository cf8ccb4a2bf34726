import { Button, Select, Textarea } from '@mantine/core';
import { useState } from 'react';
import { api } from '../api/client';
import { usePeople } from '../api/people';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { Dialog } from '../parts/Dialog';
import { rolesOf } from '../parts/roles';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { type Document, own } from './queries';

const APPROVERS = ['owner', 'admin'];

export function Submit({
  document,
  gaps,
  onGap,
  onClose,
}: {
  document: Document;
  gaps: number;
  onGap: () => void;
  onClose: () => void;
}) {
  const people = usePeople();
  const { memberId } = useMe();
  const able = people.active.filter(({ role }) => rolesOf(role).some((one) => APPROVERS.includes(one)));
  const other = able.find(({ id }) => id !== memberId);
  const [chosen, setChosen] = useState<string | null>();
  const approverId = chosen === undefined ? ((other ?? able[0])?.id ?? null) : chosen;
  return (
    <Dialog
      title={t.soa.submit.title}
      verb={t.soa.submit.verb}
      onClose={onClose}
      isReady={approverId !== null}
      act={async () => {
        await api.POST('/v1/soa/submit-for-approval', {
          body: { ...own(), documentId: document.id, approverId: approverId ?? '' },
        });
        await refetch('/v1/soa');
        toast(t.soa.submit.done(people.name(approverId) ?? t.soa.readOnly.somebody));
      }}
    >
      <Select
        label={t.soa.submit.approver}
        description={t.soa.submit.help}
        data={able.map(({ id, user }) => ({ value: id, label: user.name }))}
        value={approverId}
        searchable={able.length > 8}
        onChange={setChosen}
        data-autofocus
      />
      {approverId !== null && approverId === memberId && (
        <p role="note" style={{ color: 'var(--c-warn-text)' }}>
          {t.soa.submit.ownWork}
        </p>
      )}
      {gaps > 0 && (
        <p style={{ color: 'var(--c-warn-text)' }}>
          {t.soa.submit.gaps(gaps)}{' '}
          <Button
            variant="default"
            size="xs"
            mt={8}
            display="block"
            onClick={() => {
              onClose();
              onGap();
            }}
          >
            {t.soa.submit.showGap}
          </Button>
        </p>
      )}
    </Dialog>
  );
}

export function Approve({ document, gaps, onClose }: { document: Document; gaps: number; onClose: () => void }) {
  return (
    <Dialog
      title={t.soa.approve.title(document.version)}
      verb={t.soa.approve.verb}
      withPassword
      onClose={onClose}
      act={async () => {
        await api.POST('/v1/soa/approve', { body: { ...own(), documentId: document.id } });
        await refetch('/v1/soa', '/v1/frameworks');
        toast(t.soa.approve.done);
      }}
    >
      <p className="t2">{t.soa.approve.text}</p>
      {gaps > 0 && <p style={{ color: 'var(--c-warn-text)' }}>{t.soa.approve.gaps(gaps)}</p>}
    </Dialog>
  );
}

export function Decline({ document, onClose }: { document: Document; onClose: () => void }) {
  const [reason, setReason] = useState('');
  return (
    <Dialog
      title={t.soa.decline.title}
      verb={t.soa.decline.verb}
      onClose={onClose}
      act={async () => {
        await api.POST('/v1/soa/decline', {
          body: { ...own(), documentId: document.id, ...(reason.trim() ? { reason: reason.trim() } : {}) },
        });
        await refetch('/v1/soa');
        toast(t.soa.decline.done);
      }}
    >
      <Textarea
        label={`${t.soa.decline.reason} ${t.forms.optional}`}
        autosize
        minRows={3}
        data-autofocus
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </Dialog>
  );
}

/** A control that is left out needs a reason; one reason can serve for several. */
export function WhyNot({ title, onSay, onClose }: { title: string; onSay: (why: string) => void; onClose: () => void }) {
  const [why, setWhy] = useState('');
  return (
    <Dialog
      title={title}
      verb={t.soa.whyVerb}
      onClose={onClose}
      act={async () => {
        if (why.trim() === '') throw new Error(t.soa.why);
        onSay(why.trim());
      }}
    >
      <Textarea
        label={t.soa.fields.justification}
        description={t.soa.whyHelp}
        autosize
        minRows={3}
        data-autofocus
        value={why}
        onChange={(event) => setWhy(event.currentTarget.value)}
      />
    </Dialog>
  );
}
