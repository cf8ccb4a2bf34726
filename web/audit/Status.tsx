import { Button, Progress } from '@mantine/core';
import { IconShieldCheck } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { moment } from '../parts/format';
import { Glyph, type Shape, type Tone } from '../parts/glyphs';
import { language, t } from '../texts';
import css from './audit.module.css';
import { canVerify, type Verdict } from './chain';
import { shortHash } from './entries';

export type Check = {
  verdict?: Verdict;
  running?: { done: number; all: number };
  problem?: string;
  start: () => void;
  stop: () => void;
};

const number = (value: number) => value.toLocaleString(language);

/** What is known of the chain, as a sentence; then what it rests on. */
export function Status({ check, end, onShow }: { check: Check; end?: number; onShow: (at: string) => void }) {
  const { verdict, running, problem } = check;
  if (running) return <Running {...running} />;
  if (problem)
    return (
      <Frame tone="warn" shape="alert" title={t.audit.failed} role="alert">
        <p>{problem}</p>
      </Frame>
    );
  if (!verdict)
    return (
      <Frame tone="mute" shape="ring" title={t.audit.unknown}>
        <p>{canVerify() ? t.audit.unknownText(end === undefined ? '…' : number(end)) : t.audit.insecure}</p>
      </Frame>
    );
  if (verdict.state === 'broken') return <Broken verdict={verdict} onShow={onShow} />;
  const newer = end === undefined ? 0 : end - verdict.end.sequence;
  return (
    <Frame
      tone="ok"
      shape="check"
      title={t.audit.intact}
      aside={
        <>
          <span>{t.audit.checkedAt(moment(verdict.at))}</span>
          <span>{t.audit.signature[verdict.signature]}</span>
          <span className="num">
            {t.audit.anchor(number(verdict.end.sequence), '')}
            <span className="mono">{shortHash(verdict.end.hash)}</span>
          </span>
        </>
      }
    >
      <p>
        {t.audit.intactText(number(verdict.end.sequence))} {newer > 0 && t.audit.newer(newer)}
      </p>
    </Frame>
  );
}

function Running({ done, all }: { done: number; all: number }) {
  return (
    <Frame tone="info" shape="half" title={t.audit.verifying(number(done), number(all))}>
      <Progress value={all === 0 ? 0 : (100 * done) / all} aria-label={t.audit.progress} mt={8} />
    </Frame>
  );
}

function Broken({ verdict, onShow }: { verdict: Verdict & { state: 'broken' }; onShow: (at: string) => void }) {
  const { entryAt } = verdict;
  return (
    <Frame
      tone="bad"
      shape="cross"
      title={t.audit.broken}
      role="alert"
      aside={
        <>
          <span>{t.audit.checkedAt(moment(verdict.at))}</span>
          {entryAt && (
            <Button size="xs" variant="default" onClick={() => onShow(entryAt)}>
              {t.audit.showFirst}
            </Button>
          )}
        </>
      }
    >
      <p>{t.audit.faults[verdict.fault](number(verdict.first))}</p>
      <p>{t.audit.brokenNext}</p>
    </Frame>
  );
}

type FrameProps = { tone: Tone; shape: Shape; title: string; role?: string; aside?: ReactNode; children: ReactNode };

function Frame({ tone, shape, title, role = 'status', aside, children }: FrameProps) {
  return (
    <section className={css.frame} data-tone={tone} role={role}>
      <div className={css.verdict}>
        <h2>
          <Glyph shape={shape} tone={tone} size={16} />
          {title}
        </h2>
        {children}
      </div>
      {aside && <div className={css.basis}>{aside}</div>}
    </section>
  );
}

export function VerifyButton({ check }: { check: Check }) {
  if (check.running)
    return (
      <Button variant="default" data-primary onClick={check.stop}>
        {t.audit.stop}
      </Button>
    );
  return (
    <Button data-primary leftSection={<IconShieldCheck size={16} stroke={1.6} />} disabled={!canVerify()} onClick={check.start}>
      {t.audit.verify}
    </Button>
  );
}
