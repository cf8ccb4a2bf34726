import { Button, Modal, Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Problem, words } from '../api/problem';
import { NumberField } from '../parts/NumberField';
import { t } from '../texts';
import { ACCESS_DAYS } from './queries';
import css from './trust.module.css';

type Question = {
  title: string;
  text: string;
  verb: string;
  label: string;
  /** The API's name of what is asked for. */
  field: 'reason' | 'durationDays';
  value?: string;
  isFinal?: boolean;
  act: (value: string) => Promise<unknown>;
};

/** Asks for one thing before an act: a reason, or a number of days. What was typed stays if the act fails. */
export function useAsk() {
  const [question, setQuestion] = useState<Question>();
  const [value, setValue] = useState('');
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const close = () => setQuestion(undefined);

  const ask = (next: Question) => {
    setValue(next.value ?? '');
    setProblem(undefined);
    setQuestion(next);
  };

  async function submit(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      await question?.act(value.trim());
      close();
    } catch (error) {
      const field = question && error instanceof Problem ? error.fields()[question.field] : undefined;
      setProblem(field ?? words(error));
    } finally {
      setBusy(false);
    }
  }

  const input = {
    label: question?.label,
    value,
    error: problem,
    'data-autofocus': true,
    onChange: (event: { currentTarget: { value: string } }) => setValue(event.currentTarget.value),
  };
  const dialog = (
    <Modal
      opened={question !== undefined}
      onClose={close}
      title={question?.title}
      centered
      closeButtonProps={{ 'aria-label': t.actions.close }}
    >
      <form noValidate className={css.ask} onSubmit={(event) => void submit(event)}>
        <p className="t2">{question?.text}</p>
        {question?.field === 'durationDays' ? (
          <NumberField {...input} limits={ACCESS_DAYS} onChange={setValue} />
        ) : (
          <Textarea {...input} autosize minRows={3} maxRows={10} />
        )}
        <div className={css.buttons}>
          <Button variant="default" onClick={close}>
            {t.actions.cancel}
          </Button>
          <Button type="submit" color={question?.isFinal ? 'red' : undefined} loading={busy}>
            {question?.verb}
          </Button>
        </div>
      </form>
    </Modal>
  );
  return { ask, dialog };
}
