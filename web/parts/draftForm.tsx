import { useState } from 'react';
import { t } from '../texts';
import { useConfirm } from './confirm';

type Options = { isFilled: boolean; discard: () => void; onClose: () => void };

/** The parts of a form whose input is a draft: the note that it was restored, and the question before it is discarded. */
export function useDraftForm({ isFilled, discard, onClose }: Options) {
  const [isRestored] = useState(isFilled);
  const { ask, dialog } = useConfirm();
  const note = isRestored && isFilled && (
    <p className="t2" role="status">
      {t.drafts.restored}{' '}
      <button type="button" className="plain link" onClick={discard}>
        {t.drafts.discard}
      </button>
    </p>
  );
  const cancel = () =>
    isFilled
      ? ask({
          title: t.drafts.discardAsk,
          text: t.drafts.discardText,
          verb: t.drafts.discard,
          act: async () => {
            discard();
            onClose();
          },
        })
      : onClose();
  return { note, cancel, dialog };
}
