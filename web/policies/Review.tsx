import { ActionIcon, Button } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { DiffBlock } from '../parts/DiffBlock';
import { SectionError } from '../parts/ErrorPage';
import { t } from '../texts';
import { isNumbered } from './content';
import { Changed } from './Diff';
import css from './Diff.module.css';
import type { Change, Proposed } from './proposal';
import { Block } from './Text';
import textCss from './Text.module.css';

/** The text with the changes that somebody proposes, each to be accepted or rejected where it stands. */
export function Review({ proposal }: { proposal: Proposed }) {
  const { changes, real, open, accepted } = proposal;
  if (proposal.error)
    return (
      <>
        <SectionError error={proposal.error} />
        <Button variant="default" onClick={proposal.close}>
          {t.policies.closeProposal}
        </Button>
      </>
    );
  const nodes = changes.flatMap(({ after, before }) => after ?? before ?? []);
  return (
    <>
      <div className={css.bar} role="group" aria-label={t.policies.proposal(real.length)}>
        <p className={css.facts} aria-live="polite">
          <b>{proposal.isSame ? t.policies.nothingProposed : t.policies.proposal(real.length)}</b>{' '}
          {real.length > 0 && t.policies.decided(real.length - open.length)}
        </p>
        <span className={css.spring} />
        <Others proposal={proposal} />
        {accepted > 0 && (
          <Button loading={proposal.busy} onClick={() => void proposal.apply()}>
            {t.policies.apply(accepted)}
          </Button>
        )}
        {proposal.isMine ? (
          <Button variant="subtle" onClick={proposal.close}>
            {t.edits.discardMine}
          </Button>
        ) : (
          <ActionIcon aria-label={t.policies.closeProposal} onClick={proposal.close}>
            <IconX size={17} stroke={1.6} />
          </ActionIcon>
        )}
      </div>
      <div className={`${textCss.text} ${css.diff}`} data-numbered={isNumbered(nodes) || undefined}>
        {changes.map((change, place) => (
          <Reviewed key={place} change={change} place={place} proposal={proposal} />
        ))}
      </div>
    </>
  );
}

/** All that is not decided yet, at once. */
export function Others({ proposal }: { proposal: Proposed }) {
  const { open, real } = proposal;
  if (open.length === 0) return null;
  const isAll = open.length === real.length;
  return (
    <>
      <Button variant="default" onClick={() => proposal.decide(open, 'accepted')}>
        {isAll ? t.policies.acceptAll(open.length) : t.policies.acceptOther(open.length)}
      </Button>
      <Button variant="subtle" onClick={() => proposal.decide(open, 'rejected')}>
        {isAll ? t.policies.rejectAll(open.length) : t.policies.rejectOther(open.length)}
      </Button>
    </>
  );
}

function Reviewed({ change, place, proposal }: { change: Change; place: number; proposal: Proposed }) {
  const id = `part-${place}`;
  if (change.change === 'same') return <Changed change={change} id={id} />;
  const state = proposal.state(change);
  const stands = state === 'accepted' ? change.after : change.before;
  return (
    <DiffBlock
      n={proposal.real.indexOf(change) + 1}
      of={proposal.real.length}
      state={state}
      onDecide={(next) => proposal.decide([change], next)}
    >
      {state === 'open' ? <Changed change={change} id={id} /> : stands && <Block node={stands} id={id} />}
    </DiffBlock>
  );
}
