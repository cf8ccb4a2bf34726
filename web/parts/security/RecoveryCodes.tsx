import { Button } from '@mantine/core';
import { IconCopy, IconDownload, IconPrinter } from '@tabler/icons-react';
import { createPortal } from 'react-dom';
import { saveResponse } from '../../api/download';
import { useMe } from '../../api/session';
import { t } from '../../texts';
import { CopyWord } from '../Copy';
import { longDay } from '../format';
import { fileOf } from './codes';
import css from './security.module.css';

/** New recovery codes, which are shown once: they are copied, saved or printed before users go on. */
export function RecoveryCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  const { user } = useMe();
  const texts = t.security.recovery;
  const head = texts.head(user?.email ?? '', longDay(new Date()));
  const download = () => {
    const headers = { 'Content-Disposition': `filename="${texts.file}.txt"`, 'Content-Type': 'text/plain' };
    void saveResponse(new Response(fileOf(head, codes), { headers }));
  };
  const list = codes.map((code) => <li key={code}>{code}</li>);
  return (
    <div className={css.stack}>
      <p className="t2">{texts.text}</p>
      <ul className={css.codes} aria-label={texts.title}>
        {list}
      </ul>
      {createPortal(
        <div data-print-alone>
          <p>{head}</p>
          <ul className={css.codes}>{list}</ul>
          <p>{texts.once}</p>
        </div>,
        document.body,
      )}
      <div className={css.buttons}>
        <CopyWord text={codes.join('\n')} leftSection={<IconCopy size={16} stroke={1.6} />} />
        <Button variant="default" leftSection={<IconDownload size={16} stroke={1.6} />} onClick={download}>
          {t.actions.download}
        </Button>
        <Button variant="default" leftSection={<IconPrinter size={16} stroke={1.6} />} onClick={() => window.print()}>
          {texts.print}
        </Button>
      </div>
      <div className={css.buttons}>
        <Button data-autofocus onClick={onDone}>
          {texts.stored}
        </Button>
      </div>
    </div>
  );
}
