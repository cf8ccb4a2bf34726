import { Button, SegmentedControl, Textarea } from '@mantine/core';
import { createElement, type ReactNode, useRef, useState } from 'react';
import { useList } from '../api/lists';
import { words } from '../api/problem';
import { useMe } from '../api/session';
import { day, today } from '../parts/format';
import { type Block, blocks, type Inline } from '../parts/markdown';
import { NumberField } from '../parts/NumberField';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { HELP_BELOW, Waiting } from './Page';
import { ACCESS_DAYS, type Form } from './queries';
import { previewNda } from './Requests';
import { useSaving } from './SaveBar';
import css from './trust.module.css';

/** The text that a reader signs, and for how long access lasts. */
export function Agreement({ form }: { form: Form }) {
  const { membership, can } = useMe();
  const { errors, save, bar } = useSaving(form, ['ndaText', 'defaultDurationDays']);
  const { settings, draft } = form;
  const area = useRef<HTMLTextAreaElement>(null);
  const [typed, setTyped] = useState<string>();
  if (!settings) return <Waiting />;
  const mayChange = can('trust-portal:update');
  const text = 'ndaText' in draft ? draft.ndaText : settings.ndaText;
  const isOwn = text !== null && text !== undefined;
  const days = draft.defaultDurationDays ?? settings.defaultDurationDays;
  const set = (ndaText: string | null) => form.set({ ndaText });
  const values: Record<string, string> = {
    ...t.trust.agreement.sample,
    organization: membership?.name ?? '',
    date: day(today()),
    duration: t.trust.agreement.sample.duration(days),
  };

  function insert(word: string) {
    const { selectionStart = 0, selectionEnd = 0 } = area.current ?? {};
    const whole = text ?? '';
    set(`${whole.slice(0, selectionStart)}{{${word}}}${whole.slice(selectionEnd)}`);
    area.current?.focus();
  }

  return (
    <div className={css.sides}>
      <form
        noValidate
        className={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <p className="t2">{t.trust.agreement.lead}</p>
        <SegmentedControl
          aria-label={t.trust.agreement.which}
          disabled={!mayChange}
          value={isOwn ? 'own' : 'ours'}
          onChange={(which) => set(which === 'own' ? (settings.ndaText ?? typed ?? t.trust.agreement.start) : null)}
          data={[
            { value: 'ours', label: t.trust.agreement.ours },
            { value: 'own', label: t.trust.agreement.own },
          ]}
        />
        {isOwn ? (
          <>
            <Textarea
              ref={area}
              className={css.text}
              label={t.trust.fields.ndaText}
              description={t.trust.agreement.textHelp}
              inputWrapperOrder={HELP_BELOW}
              autosize
              minRows={12}
              maxRows={28}
              value={text}
              error={errors.ndaText}
              readOnly={!mayChange}
              onChange={(event) => {
                setTyped(event.currentTarget.value);
                set(event.currentTarget.value);
              }}
            />
            {mayChange && (
              <div className={css.words}>
                {Object.entries(t.trust.agreement.placeholders).map(([word, meaning]) => (
                  <Button
                    key={word}
                    size="xs"
                    variant="default"
                    aria-label={t.trust.agreement.insert(meaning)}
                    onClick={() => insert(word)}
                  >
                    {`{{${word}}}`}
                  </Button>
                ))}
              </div>
            )}
          </>
        ) : (
          <p className="t2">{t.trust.agreement.oursText}</p>
        )}
        <NumberField
          label={t.trust.agreement.days}
          description={t.trust.agreement.daysHelp}
          inputWrapperOrder={HELP_BELOW}
          limits={ACCESS_DAYS}
          value={String(days || '')}
          error={errors.defaultDurationDays}
          readOnly={!mayChange}
          onChange={(days) => form.set({ defaultDurationDays: Number(days) })}
        />
        {mayChange && bar}
        <Pdf />
      </form>
      <div className={css.paper}>
        {isOwn && (
          <>
            <h2>{t.trust.agreement.preview}</h2>
            <p className="t3">{t.trust.agreement.previewNote}</p>
            <div className={css.doc} tabIndex={0} role="region" aria-label={t.trust.agreement.preview}>
              {blocks(text.replaceAll(/\{\{(\w+)\}\}/g, (whole, word: string) => values[word] ?? whole)).map((block, at) => (
                <Shown key={at} block={block} />
              ))}
            </div>
          </>
        )}
      </div>
    </div>
  );
}

const inline = (text: Inline[]): ReactNode[] =>
  text.map(({ kind, text }, at) => (kind === 'text' ? text : createElement(kind, { key: at }, text)));

function Shown({ block }: { block: Block }) {
  switch (block.kind) {
    case 'heading':
      return block.level === 1 ? <h3>{inline(block.text)}</h3> : <h4>{inline(block.text)}</h4>;
    case 'paragraph':
      return <p>{inline(block.text)}</p>;
    case 'quote':
      return <blockquote>{inline(block.text)}</blockquote>;
    case 'rule':
      return <hr />;
    case 'list': {
      const items = block.items.map((item, at) => <li key={at}>{inline(item)}</li>);
      return block.isOrdered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>;
    }
  }
}

/** The file as it would be sent, for somebody who waits for it. */
function Pdf() {
  const { can } = useMe();
  const { rows, isSuccess } = useList(
    '/v1/trust-access/admin/requests',
    { status: 'under_review' },
    { enabled: can('trust-access:read') },
  );
  const [busy, setBusy] = useState(false);
  if (!isSuccess) return null;
  const newest = rows[0];
  if (!newest) return <p className="t3">{t.trust.agreement.noPdf}</p>;
  const show = async () => {
    setBusy(true);
    await previewNda(newest.id).catch((problem) => toast(words(problem), { bad: true }));
    setBusy(false);
  };
  return (
    <div>
      <Button variant="default" loading={busy} onClick={() => void show()}>
        {t.trust.agreement.pdf}
      </Button>
      <p className="t3" style={{ marginTop: 6 }}>
        {t.trust.agreement.pdfHelp}
      </p>
    </div>
  );
}
