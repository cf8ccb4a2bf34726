import { Button, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api, type Schemas } from '../api/client';
import { useCriteria } from '../api/criteria';
import { usePeople } from '../api/people';
import { refetch } from '../api/query';
import { useRecord, type Versioned } from '../api/records';
import { useMe } from '../api/session';
import { useConfirm } from '../parts/confirm';
import { Dialog } from '../parts/Dialog';
import { useDraft } from '../parts/drafts';
import { day, iso, nextDay, startOf, today } from '../parts/format';
import type { Column } from '../parts/list/Table';
import type { Row } from '../parts/register/definition';
import { StatusPill } from '../parts/StatusPill';
import { toast } from '../parts/toast';
import { t } from '../texts';
import css from './risks.module.css';

type Risk = Schemas['RiskView'];
type Props = { id: string; asOf?: string; isPast: boolean };

const matching = (version: string | null) => (version ? { 'If-Match': version } : {});

/** Whether the owner has accepted the risk as it is rated, and until when. */
export function Acceptance({ id, asOf, isPast }: Props) {
  const record = useRecord('/v1/risks', id, asOf).data;
  const { can, memberId } = useMe();
  const { ask, dialog } = useConfirm();
  const [isAccepting, setAccepting] = useState(false);
  const texts = t.risks.acceptance;
  if (!record) return null;
  const risk = record.data;
  const isOwner = risk.assigneeId !== null && risk.assigneeId === memberId;
  const isAccepted = risk.acceptanceStatus !== 'none';

  const withdraw = () =>
    ask({
      title: texts.withdrawAsk(risk.reference),
      text: texts.withdrawText,
      verb: texts.withdraw,
      act: async () => {
        const params = { path: { id }, header: matching(record.version) };
        await api.DELETE('/v1/risks/{id}/acceptance', { params }).finally(() => refetch('/v1/risks'));
        toast(texts.withdrawn(risk.reference));
      },
    });

  return (
    <section className={css.acceptance} aria-label={texts.title}>
      <h3>{texts.title}</h3>
      <State risk={risk} />
      {!isPast && (
        <>
          {risk.acceptanceStatus === 'accepted' && <p className="t3">{texts.ends}</p>}
          {!(isOwner && risk.isResidualAssessed) && <Why risk={risk} isOwner={isOwner} />}
          <div className={css.verbs} data-screen>
            {isOwner && risk.isResidualAssessed && (
              <Button size="xs" variant="default" onClick={() => setAccepting(true)}>
                {isAccepted ? texts.renew : texts.accept}
              </Button>
            )}
            {isAccepted && (isOwner || can('risk:update')) && (
              <Button size="xs" variant="subtle" onClick={withdraw}>
                {texts.withdraw}
              </Button>
            )}
          </div>
        </>
      )}
      {isAccepting && <Accept record={record} onClose={() => setAccepting(false)} />}
      {dialog}
    </section>
  );
}

function State({ risk }: { risk: Risk }) {
  const people = usePeople();
  const texts = t.risks.acceptance;
  if (risk.acceptanceStatus === 'none' || !risk.acceptedUntil) return <p className="t2">{texts.none}</p>;
  const until = day(risk.acceptedUntil);
  return (
    <>
      <p>
        {risk.acceptanceStatus === 'accepted' ? (
          <StatusPill label={texts.until(until)} tone="ok" shape="check" />
        ) : (
          <StatusPill label={texts.ended(until)} tone="warn" shape="alert" loud />
        )}{' '}
        <span className="t2">
          {texts.by(
            people.name(risk.acceptedById) ?? t.record.somebody,
            risk.acceptedAt ? day(new Date(risk.acceptedAt)) : t.edits.none,
          )}
        </span>
      </p>
      <p className={css.reason}>{risk.acceptanceReason}</p>
    </>
  );
}

/** Why the reader cannot accept the risk. */
function Why({ risk, isOwner }: { risk: Risk; isOwner: boolean }) {
  const people = usePeople();
  const texts = t.risks.acceptance;
  const why = () => {
    if (isOwner) return texts.notRated;
    return risk.assigneeId ? texts.notOwner(people.name(risk.assigneeId) ?? t.record.somebody) : texts.noOwner;
  };
  return <p className="t3">{why()}</p>;
}

type Typed = { until: string; reason: string };
const NONE: Typed = { until: '', reason: '' };

/** The day so many months later, or the last day of its month. */
export function monthsLater(date: string, months: number): string {
  const from = startOf(date);
  const last = new Date(from.getFullYear(), from.getMonth() + months + 1, 0);
  return iso(new Date(last.getFullYear(), last.getMonth(), Math.min(from.getDate(), last.getDate())));
}

function Accept({ record, onClose }: { record: Versioned<Risk>; onClose: () => void }) {
  const { data: risk, version } = record;
  const { months } = useCriteria();
  const [typed, setTyped, discard] = useDraft<Typed>(`accept:${risk.id}`, NONE);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const texts = t.risks.acceptance;
  const set = (patch: Partial<Typed>) => {
    setTyped({ ...typed, ...patch });
    setErrors({});
  };
  async function act() {
    const body = { until: typed.until, reason: typed.reason.trim() };
    const params = { path: { id: risk.id }, header: matching(version) };
    // If it was changed meanwhile, the drawer behind shows what would be accepted now.
    await api.POST('/v1/risks/{id}/acceptance', { params, body }).finally(() => refetch('/v1/risks'));
    discard();
    toast(texts.done(risk.reference, day(body.until)));
  }
  return (
    <Dialog
      title={texts.ask(risk.reference)}
      verb={texts.accept}
      act={act}
      onClose={onClose}
      isReady={typed.until !== '' && typed.reason.trim() !== ''}
      fields={['until', 'reason']}
      onErrors={setErrors}
      withPassword
    >
      <p className="t2">{texts.text(risk.residualScore)}</p>
      <TextInput
        type="date"
        label={texts.lastDay}
        description={months && texts.lastDayHelp(months)}
        min={nextDay(today())}
        max={months && monthsLater(today(), months)}
        data-autofocus
        value={typed.until}
        error={errors.until}
        onChange={(event) => set({ until: event.currentTarget.value })}
      />
      <Textarea
        label={texts.reason}
        description={texts.reasonHelp}
        autosize
        minRows={3}
        value={typed.reason}
        error={errors.reason}
        onChange={(event) => set({ reason: event.currentTarget.value })}
      />
      <p className="t3">{texts.ends}</p>
    </Dialog>
  );
}

export const acceptedUntil = (): Column<Row> => ({
  key: 'acceptedUntil',
  priority: 10,
  header: t.risks.fields.acceptedUntil,
  width: 128,
  align: 'right',
  sort: 'acceptedUntil',
  isExtra: true,
  render: (row) => {
    const { acceptedUntil: until, acceptanceStatus } = row as Risk;
    return until && <span className={acceptanceStatus === 'ended' ? css.ended : 't2'}>{day(until)}</span>;
  },
});
