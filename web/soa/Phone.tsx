import { Button } from '@mantine/core';
import { usePeople } from '../api/people';
import { t } from '../texts';
import type { Answers } from './answers';
import { Evidence, Gaps, says, YesNo } from './cells';
import { clause, type Row, themes } from './logic';
import css from './soa.module.css';

type Props = {
  rows: Row[];
  answers: Answers;
  mayChange: boolean;
  onOpen: (id: string) => void;
  onSay: (row: Row, isApplicable: boolean) => void;
};

/** The rows on a phone: a list instead of the grid. */
export function Phone({ rows, answers, mayChange, onOpen, onSay }: Props) {
  const people = usePeople();
  return themes(rows).map((theme) => (
    <section key={theme.name} className={css.list} aria-label={theme.name}>
      <h2 className={css.listTheme}>
        <b>{[clause(theme), theme.name].filter(Boolean).join(' ')}</b>{' '}
        <span className="num t3">{t.soa.controls(theme.rows.length)}</span>
      </h2>
      <ul>
        {theme.rows.map((row) => {
          const { question, answer } = row;
          const owner = people.name(answer?.ownerId ?? row.drivers.ownerId);
          const trouble = answers.troubles[question.id];
          return (
            <li key={question.id} id={`row-${question.id}`} className={css.item}>
              <span className="mono t3">{question.code}</span>
              <button type="button" className={`plain ${css.itemOpen}`} onClick={() => onOpen(question.id)}>
                {question.title}
              </button>
              {mayChange ? (
                <YesNo row={row} large onSay={(isApplicable) => onSay(row, isApplicable)} />
              ) : (
                <span>{says(answer)}</span>
              )}
              <span className={css.itemFacts}>
                {answer?.isApplicable && owner && <span>{owner}</span>}
                {answer?.isApplicable !== false && <Evidence row={row} />}
                <Gaps row={row} />
              </span>
              {trouble && (
                <div className={css.itemTrouble}>
                  <span role="alert">{t.soa.notSaved(question.code, trouble.text)}</span>
                  <Button size="xs" variant="default" onClick={() => void answers.save(question.id, trouble.patch)}>
                    {t.actions.retry}
                  </Button>
                  <Button size="xs" variant="subtle" onClick={() => answers.forget(question.id)}>
                    {t.soa.discard}
                  </Button>
                </div>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  ));
}
