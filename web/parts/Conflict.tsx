import { Button, Radio } from '@mantine/core';
import { useState } from 'react';
import { words } from '../api/problem';
import type { Conflict as Found } from '../api/records';
import { t } from '../texts';
import css from './Conflict.module.css';
import { moment } from './format';

type Props<T> = {
  conflict: Found<T>;
  labels: Record<string, string>;
  read: (field: string, value: unknown) => string;
  onSettle: (chosen: Record<string, unknown> | undefined) => Promise<void>;
};

/** Somebody else saved first. Each field that differs is decided; nothing that was typed is lost. */
export function Conflict<T extends object>({ conflict, labels, read, onSettle }: Props<T>) {
  const theirs = conflict.theirs.data as Record<string, unknown>;
  const fields = Object.keys(conflict.mine);
  const [mine, setMine] = useState<Record<string, boolean>>(Object.fromEntries(fields.map((field) => [field, true])));
  const [problem, setProblem] = useState<string>();
  const settle = (chosen: Record<string, unknown> | undefined) =>
    void onSettle(chosen).catch((error) => setProblem(words(error)));
  return (
    <section className={css.frame} role="alert" aria-label={t.edits.conflictTitle}>
      <b>{t.edits.conflictTitle}</b>
      <p>
        {conflict.by && conflict.at ? t.edits.conflictBy(conflict.by, moment(conflict.at)) : null} {t.edits.conflictText}
      </p>
      {fields.map((field) => (
        <Radio.Group
          key={field}
          label={labels[field] ?? field}
          value={mine[field] ? 'mine' : 'theirs'}
          onChange={(value) => setMine({ ...mine, [field]: value === 'mine' })}
        >
          <div className={css.sides}>
            <Radio.Card value="mine" className={css.side}>
              <small>{t.edits.mine}</small> {read(field, conflict.mine[field])}
            </Radio.Card>
            <Radio.Card value="theirs" className={css.side}>
              <small>{conflict.by ?? t.edits.theirs}</small> {read(field, theirs[field])}
            </Radio.Card>
          </div>
        </Radio.Group>
      ))}
      {problem && <p role="alert">{problem}</p>}
      <div className={css.actions}>
        <Button
          size="xs"
          onClick={() =>
            settle(Object.fromEntries(fields.filter((field) => mine[field]).map((field) => [field, conflict.mine[field]])))
          }
        >
          {t.edits.saveChosen}
        </Button>
        <Button size="xs" variant="default" onClick={() => settle(undefined)}>
          {t.edits.discardMine}
        </Button>
      </div>
    </section>
  );
}
