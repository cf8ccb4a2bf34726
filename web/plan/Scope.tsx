import { Checkbox, Radio, SegmentedControl, TextInput } from '@mantine/core';
import { t } from '../texts';
import { spoken } from '../texts/questions';
import css from './plan.module.css';
import { type Answer, askedOf, type Question } from './questions';
import type { StepProps } from './SetUp';

/** The questions about the organization that decide what applies to it. */
export function ScopeStep({ settings, set, questions }: StepProps) {
  const { answers, frameworks } = settings;
  return (
    <div className={css.questions}>
      {askedOf(questions, answers, frameworks).map((question) => (
        <Asked
          key={question.key}
          question={spoken(question)}
          answer={answers[question.key]}
          onAnswer={(answer) => set({ answers: { ...answers, [question.key]: answer } })}
        />
      ))}
    </div>
  );
}

type AskedProps = { question: Question; answer?: Answer; onAnswer: (answer: Answer | undefined) => void };

function Asked({ question, answer, onAnswer }: AskedProps) {
  const id = `question-${question.key}`;
  return (
    <div className={css.question} data-tall={question.kind === 'choice' || undefined}>
      <div>
        <p id={id} className={css.asked}>
          {question.question}
        </p>
        <p id={`${id}-help`} className={css.help}>
          {question.help}
        </p>
      </div>
      <Input question={question} answer={answer} onAnswer={onAnswer} id={id} />
    </div>
  );
}

/** The value of the segment and the option that skip a question. */
const SKIPPED = '';

function Input({ question, answer, onAnswer, id }: AskedProps & { id: string }) {
  const words = t.plan.scope;
  const label = { 'aria-labelledby': id, 'aria-describedby': `${id}-help` };
  const { kind, multiple, options, key } = question;
  if (kind === 'yes_no')
    return (
      <SegmentedControl
        {...label}
        className={css.segments}
        name={key}
        value={answer === undefined ? SKIPPED : answer === true ? 'yes' : 'no'}
        onChange={(next) => onAnswer(next === SKIPPED ? undefined : next === 'yes')}
        data={[
          { value: 'yes', label: words.yes },
          { value: 'no', label: words.no },
          { value: SKIPPED, label: words.notSure },
        ]}
      />
    );
  if (kind === 'number')
    return (
      <TextInput
        {...label}
        className={css.number}
        type="number"
        inputMode="numeric"
        min={0}
        step={1}
        // It is one of many answers, not the last one.
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        value={typeof answer === 'number' ? answer : ''}
        onChange={({ currentTarget: { value } }) => {
          const number = Number.parseInt(value, 10);
          onAnswer(Number.isNaN(number) ? undefined : Math.max(0, number));
        }}
      />
    );
  if (multiple) {
    const chosen = Array.isArray(answer) ? answer : [];
    const toggle = (value: string, isChosen: boolean) => {
      const next = isChosen ? [...chosen, value] : chosen.filter((one) => one !== value);
      onAnswer(next.length > 0 ? next : undefined);
    };
    return (
      <div role="group" {...label} className={css.options}>
        {options.map(({ value, label }) => (
          <Checkbox
            key={value}
            label={label}
            checked={chosen.includes(value)}
            onChange={(event) => toggle(value, event.currentTarget.checked)}
          />
        ))}
        <Checkbox
          label={words.noneOfThese}
          checked={Array.isArray(answer) && chosen.length === 0}
          onChange={(event) => onAnswer(event.currentTarget.checked ? [] : undefined)}
        />
      </div>
    );
  }
  return (
    <div role="radiogroup" {...label} className={css.options}>
      {[...options, { value: SKIPPED, label: words.notSure }].map(({ value, label }) => (
        <Radio
          key={value}
          name={key}
          label={label}
          size="xs"
          checked={(typeof answer === 'string' ? answer : SKIPPED) === value}
          onChange={() => onAnswer(value === SKIPPED ? undefined : value)}
        />
      ))}
    </div>
  );
}
