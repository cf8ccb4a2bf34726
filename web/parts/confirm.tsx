import { type ReactNode, useState } from 'react';
import { Dialog, type DialogProps } from './Dialog';

type Question = Pick<DialogProps, 'title' | 'verb' | 'act' | 'withIdentity' | 'isOfAccount'> & {
  text: ReactNode;
  /** It can be undone. */
  isSafe?: boolean;
};

/** Asks before what cannot be undone. */
export function useConfirm() {
  const [question, setQuestion] = useState<Question>();
  const ask = (next: Question) => setQuestion(next);
  if (!question) return { ask, isAsking: false, dialog: undefined };
  const { text, isSafe, ...rest } = question;
  const dialog = (
    <Dialog {...rest} isDanger={!isSafe} onClose={() => setQuestion(undefined)}>
      <p className="t2">{text}</p>
    </Dialog>
  );
  return { ask, isAsking: true, dialog };
}
