import { ActionIcon, Button, Textarea } from '@mantine/core';
import { IconPlayerStopFilled, IconPlus, IconSend, IconX } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { Problem, words } from '../api/problem';
import { t } from '../texts';
import css from './Assistant.module.css';
import type { Node } from './content';
import { type Proposed, useKept } from './proposal';
import { Others } from './Review';
import { askAssistant, type Turn } from './stream';

type Said = Turn & { hasProposal?: boolean; problem?: string; isStopped?: boolean };
type Props = { id: string; proposal: Proposed; onProposal: (content: Node[]) => void; onShow: () => void; onClose: () => void };

/** Asks about the policy and shows the answer as it comes. It changes nothing: what it proposes is decided in the text. */
export function Assistant({ id, proposal, onProposal, onShow, onClose }: Props) {
  const [said, setSaid] = useKept<Said[]>(`attestry.chat.${id}`, []);
  const [text, setText] = useKept(`attestry.question.${id}`, '');
  const [running, setRunning] = useState<AbortController>();
  const [missing, setMissing] = useState<string>();
  const log = useRef<HTMLDivElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const last = said.at(-1);

  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  useEffect(() => {
    const end = log.current;
    if (end) end.scrollTop = end.scrollHeight;
  }, [said, running]);
  useEffect(() => () => running?.abort(), [running]);

  const answer = (change: (old: Said) => Said) => setSaid((all) => [...all.slice(0, -1), ...all.slice(-1).map(change)]);

  async function ask(question: string) {
    if (question.trim() === '' || running) return;
    const stop = new AbortController();
    setRunning(stop);
    setMissing(undefined);
    const before = said.filter(({ content }) => content !== '').map(({ role, content }) => ({ role, content }));
    setSaid([...said, { role: 'user', content: question.trim() }, { role: 'assistant', content: '' }]);
    setText('');
    try {
      await askAssistant(id, question.trim(), before, stop.signal, {
        onText: (more) => answer((old) => ({ ...old, content: old.content + more })),
        onProposal: ({ content }) => {
          answer((old) => ({ ...old, hasProposal: true }));
          onProposal(content);
        },
      });
    } catch (error) {
      if (stop.signal.aborted) answer((old) => ({ ...old, isStopped: true }));
      else if (error instanceof Problem && error.code === 'ai_not_configured') {
        // The question waits until there is somebody to answer it.
        setMissing(error.message);
        setSaid(said);
        setText(question);
      } else answer((old) => ({ ...old, problem: words(error) }));
    } finally {
      setRunning(undefined);
    }
  }

  const { assistant } = t.policies;
  return (
    <aside
      className={css.panel}
      aria-label={assistant.title}
      onKeyDown={(event) => event.key === 'Escape' && !event.defaultPrevented && onClose()}
    >
      <div className={css.head}>
        <h2 ref={heading} tabIndex={-1}>
          {assistant.title}
        </h2>
        <ActionIcon
          aria-label={assistant.fresh}
          disabled={said.length === 0 || running !== undefined}
          onClick={() => setSaid([])}
        >
          <IconPlus size={17} stroke={1.6} />
        </ActionIcon>
        <ActionIcon aria-label={assistant.close} onClick={onClose}>
          <IconX size={17} stroke={1.6} />
        </ActionIcon>
      </div>
      <div className={css.log} ref={log} role="log" aria-label={assistant.title} aria-busy={running !== undefined} tabIndex={0}>
        {said.length === 0 && !missing && <Start onPick={(question) => void ask(question)} />}
        {missing && (
          <div className={css.missing} role="alert">
            <b>{assistant.missing}</b>
            <p>{assistant.missingText}</p>
            <p className="t3">{missing}</p>
          </div>
        )}
        {said.map((one, place) => (
          <div key={place} className={one.role === 'user' ? css.question : css.answer}>
            <span className="hidden-visually">{one.role === 'user' ? assistant.you : assistant.title}: </span>
            {one.content}
            {running && one === last && <span className={css.caret} aria-hidden="true" />}
            {one.isStopped && <p className="t3">{assistant.stopped}</p>}
            {one.problem && (
              <p className={css.problem} role="alert">
                {one.problem}
              </p>
            )}
            {one === said.findLast(({ hasProposal }) => hasProposal) && <Card proposal={proposal} onShow={onShow} />}
          </div>
        ))}
      </div>
      <form
        className={css.composer}
        onSubmit={(event) => {
          event.preventDefault();
          void ask(text);
        }}
      >
        <Textarea
          aria-label={assistant.placeholder}
          placeholder={assistant.placeholder}
          autosize
          minRows={2}
          maxRows={8}
          maxLength={10_000}
          variant="unstyled"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            void ask(text);
          }}
        />
        <div className={css.foot}>
          <span>{assistant.note}</span>
          {running ? (
            <ActionIcon variant="default" aria-label={assistant.stop} onClick={() => running.abort()}>
              <IconPlayerStopFilled size={14} />
            </ActionIcon>
          ) : (
            <ActionIcon variant="default" type="submit" aria-label={assistant.send} disabled={text.trim() === ''}>
              <IconSend size={16} stroke={1.6} />
            </ActionIcon>
          )}
        </div>
      </form>
    </aside>
  );
}

function Start({ onPick }: { onPick: (question: string) => void }) {
  const { assistant } = t.policies;
  return (
    <div className={css.start}>
      <p className="t2">{assistant.lead}</p>
      {assistant.examples.map((example) => (
        <Button key={example} variant="default" size="xs" onClick={() => onPick(example)}>
          {example}
        </Button>
      ))}
    </div>
  );
}

/** How far the proposal is; its changes stand in the text. */
function Card({ proposal, onShow }: { proposal: Proposed; onShow: () => void }) {
  if (!proposal.isOpen) return <p className={css.card}>{t.policies.proposalOver}</p>;
  if (proposal.isSame) return <p className={css.card}>{t.policies.nothingProposed}</p>;
  const { real, open, accepted } = proposal;
  return (
    <div className={css.card}>
      <p>
        <b>{t.policies.proposal(real.length)}</b> <span className="t3">{t.policies.decided(real.length - open.length)}</span>
      </p>
      <div className={css.cardActions}>
        <Others proposal={proposal} />
        {open.length === 0 && (
          <Button variant="default" loading={proposal.busy} onClick={() => void proposal.apply()}>
            {accepted > 0 ? t.policies.apply(accepted) : t.policies.closeProposal}
          </Button>
        )}
        <Button className={css.show} variant="subtle" onClick={onShow}>
          {t.policies.showInText}
        </Button>
      </div>
    </div>
  );
}
