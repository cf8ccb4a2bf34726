import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { usePeople } from '../api/people';
import { words } from '../api/problem';
import { Missing } from '../controls/Missing';
import { Drawer } from '../parts/Drawer';
import { Field, type Value } from '../parts/Field';
import { moment } from '../parts/format';
import { Glyph } from '../parts/glyphs';
import { readiness } from '../parts/links/kinds';
import { Person } from '../parts/Person';
import { StatusPill } from '../parts/StatusPill';
import { pastOf, useView } from '../parts/search';
import { toast } from '../parts/toast';
import { t } from '../texts';
import type { Answers } from './answers';
import { Evidence, far } from './cells';
import type { Patch, Row } from './logic';
import css from './soa.module.css';

type Props = {
  row: Row;
  answers: Answers;
  mayChange: boolean;
  onClose: () => void;
  onStep: (step: 1 | -1) => void;
  onSay: (row: Row, isApplicable: boolean) => void;
};

/** One row beside the grid: what it asks, what is said of it, and what drives it. */
export function Details({ row, answers, mayChange, onClose, onStep, onSay }: Props) {
  const people = usePeople();
  const { question, answer, drivers } = row;
  const save = (patch: Patch) => answers.save(question.id, patch);
  const trouble = answers.troubles[question.id];
  const text = (field: 'justification' | 'obligation') =>
    mayChange ? (value: Value) => save({ [field]: value ?? '' }) : undefined;
  const status = far()[answer?.implementationStatus ?? ''];
  return (
    <Drawer
      reference={question.code}
      title={question.title}
      name={`${question.code} ${question.title}`}
      onClose={onClose}
      onStep={onStep}
    >
      {answer?.state === 'proposed' && (
        <div className={css.banner}>
          <span>{t.soa.proposedBy[answer.source]}</span>
          {mayChange && (
            <Button
              size="xs"
              variant="default"
              onClick={() =>
                void answers
                  .confirm([question.id])
                  .then((count) => toast(t.soa.confirmed(count)))
                  .catch((error) => toast(words(error), { bad: true }))
              }
            >
              {t.soa.confirmOne}
            </Button>
          )}
        </div>
      )}
      {trouble && (
        <p role="alert" style={{ color: 'var(--c-bad-text)', marginTop: 12 }}>
          {t.soa.notSaved(question.code, trouble.text)}
        </p>
      )}
      <dl style={{ margin: '12px 0 0' }}>
        <Field
          name="isApplicable"
          label={t.soa.columns.applies}
          kind="choice"
          value={answer ? String(answer.isApplicable) : null}
          choices={[
            { value: 'true', label: t.soa.yes },
            { value: 'false', label: t.soa.no },
          ]}
          onSave={mayChange ? async (value) => onSay(row, value === 'true') : undefined}
        >
          {answer ? answer.isApplicable ? t.soa.yes : t.soa.no : <span className="t3">{t.soa.unanswered}</span>}
        </Field>
        <Field
          name="justification"
          label={t.soa.columns.justification}
          kind="long"
          value={answer?.justification ?? null}
          optional
          onSave={text('justification')}
        >
          {answer?.justification}
        </Field>
        {answer?.isApplicable !== false && (
          <>
            <Field
              name="obligation"
              label={t.soa.fields.obligation ?? ''}
              kind="text"
              value={drivers.obligation}
              optional
              onSave={text('obligation')}
            >
              {drivers.obligation}
            </Field>
            <Field
              name="implementationStatus"
              label={t.soa.columns.status}
              kind="choice"
              value={answer?.implementationStatus ?? null}
              choices={Object.entries(t.soa.implementation).map(([value, label]) => ({ value, label }))}
              optional
              onSave={mayChange ? (value) => save({ implementationStatus: value as Patch['implementationStatus'] }) : undefined}
            >
              {status && <StatusPill {...status} />}
            </Field>
            <Field
              name="ownerId"
              label={t.soa.columns.owner}
              kind="choice"
              value={answer?.ownerId ?? null}
              choices={people.active.map(({ id, user }) => ({ value: id, label: user.name }))}
              optional
              onSave={mayChange ? (value) => save({ ownerId: value as string | null }) : undefined}
            >
              {answer?.ownerId && <Person name={people.name(answer.ownerId)} />}
            </Field>
          </>
        )}
      </dl>
      {row.readiness && row.answer?.isApplicable !== false && (
        <section className={css.section}>
          <h3>{t.controls.columns.readiness}</h3>
          <StatusPill {...readiness()[row.readiness]} />
          <Missing pieces={row.missing} />
        </section>
      )}
      {row.gaps.length > 0 && (
        <section className={css.section}>
          <h3>{t.soa.details.lacks}</h3>
          <ul>
            {row.gaps.map((gap) => (
              <li key={gap}>
                <Glyph shape="alert" tone="warn" />
                <span>
                  <b>{t.soa.gaps[gap]}.</b> <span className="t2">{t.soa.gapHelp[gap]}</span>
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section className={css.section}>
        <h3>{t.soa.details.objective}</h3>
        <p className="t2">{question.objective || t.soa.details.none}</p>
      </section>
      <section className={css.section}>
        <h3>{t.soa.details.drivers}</h3>
        <dl>
          <dt>{t.soa.details.risks}</dt>
          <dd>
            <Links all={drivers.risks} to="/risks" />
          </dd>
          <dt>{t.soa.details.controls}</dt>
          <dd>
            <Links all={drivers.controls} to="/controls" />
          </dd>
          <dt>{t.soa.details.evidence}</dt>
          <dd>
            <Evidence row={row} />
          </dd>
        </dl>
      </section>
      {answer && (
        <p className="t3" style={{ marginTop: 20 }}>
          {[answer.state === 'confirmed' ? people.name(answer.updatedBy) : undefined, moment(answer.updatedAt)]
            .filter(Boolean)
            .join(' · ')}
        </p>
      )}
    </Drawer>
  );
}

function Links({ all, to }: { all: { id: string; label: string | null }[]; to: '/risks' | '/controls' }) {
  const { view } = useView();
  if (all.length === 0) return <span className="t3">{t.soa.details.none}</span>;
  return (
    <ul>
      {all.map(({ id, label }) => (
        <li key={id}>
          {label === null ? (
            <span className="t3">{t.soa.details.hidden}</span>
          ) : (
            <Link to={to} search={{ ...pastOf(view), open: id }} className="link">
              {label}
            </Link>
          )}
        </li>
      ))}
    </ul>
  );
}
