import { ActionIcon, Select, Switch } from '@mantine/core';
import { IconArrowRight, IconChevronDown, IconChevronUp, IconX } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import type { Schemas } from '../api/client';
import { SectionError } from '../parts/ErrorPage';
import { day } from '../parts/format';
import { t } from '../texts';
import { isNumbered } from './content';
import { Changed } from './Diff';
import css from './Diff.module.css';
import { Lines } from './Lines';
import { useDiff } from './queries';
import textCss from './Text.module.css';

type Props = {
  id: string;
  versions: Schemas['PolicyVersion'][];
  a: string;
  b: string;
  onChange: (a: string, b: string) => void;
  onClose: () => void;
};

/** Two versions as one text: struck what is gone, underlined what is new. */
export function Compare({ id, versions, a, b, onChange, onClose }: Props) {
  const { data, error, refetch } = useDiff(id, a, b);
  const choices = [
    { value: 'draft', label: t.policies.draftText },
    ...versions.map((one) => ({
      value: String(one.version),
      label: `${t.policies.v(one.version)} · ${day(one.publishedAt)}`,
    })),
  ];
  const select = (label: string, value: string, change: (next: string) => void) => (
    <Select
      aria-label={label}
      w={150}
      data={choices}
      value={value}
      allowDeselect={false}
      onChange={(next) => next && change(next)}
    />
  );
  const text = useRef<HTMLDivElement>(null);
  const at = useRef(-1);
  const [isShort, setShort] = useState(false);
  const hasChanges = data?.changes.some(({ change }) => change !== 'same') ?? false;

  /** Goes to the next change, or to the one before; from the last to the first. */
  function jump(by: 1 | -1) {
    const all = [...(text.current?.querySelectorAll<HTMLElement>('[data-change]') ?? [])];
    at.current = (Math.max(at.current, by > 0 ? -1 : 0) + by + all.length) % all.length;
    all[at.current]?.focus({ preventScroll: true });
    all[at.current]?.scrollIntoView({ block: 'center' });
  }

  const nodes = data?.changes.flatMap(({ after, before }) => after ?? before ?? []) ?? [];
  return (
    <>
      <div className={css.bar} role="group" aria-label={t.policies.compare}>
        {select(t.policies.older, a, (next) => onChange(next, b))}
        <IconArrowRight size={16} stroke={1.6} aria-hidden="true" />
        {select(t.policies.newer, b, (next) => onChange(a, next))}
        <span className={css.spring} />
        {data && (
          <span className={css.facts} aria-live="polite">
            {data.counts.changed + data.counts.added + data.counts.removed === 0
              ? t.policies.noDifference
              : t.policies.differences(data.counts)}
          </span>
        )}
        {hasChanges && (
          <>
            <ActionIcon aria-label={t.policies.previousChange} onClick={() => jump(-1)}>
              <IconChevronUp size={17} stroke={1.6} />
            </ActionIcon>
            <ActionIcon aria-label={t.policies.nextChange} onClick={() => jump(1)}>
              <IconChevronDown size={17} stroke={1.6} />
            </ActionIcon>
            <Switch
              size="xs"
              label={t.policies.changesOnly}
              checked={isShort}
              onChange={(event) => setShort(event.currentTarget.checked)}
            />
          </>
        )}
        <ActionIcon aria-label={t.policies.closeCompare} onClick={onClose}>
          <IconX size={17} stroke={1.6} />
        </ActionIcon>
      </div>
      {error && <SectionError error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Lines />}
      {data && data.before.name !== data.after.name && (
        <p className={`${textCss.text} ${css.diff}`}>
          <del>{data.before.name}</del> <ins>{data.after.name}</ins>
        </p>
      )}
      <div ref={text} className={`${textCss.text} ${css.diff}`} data-numbered={isNumbered(nodes) || undefined}>
        {data?.changes.map((change, place, all) => {
          if (change.change !== 'same')
            return (
              <div key={place} data-change tabIndex={-1}>
                <Changed change={change} id={`part-${place}`} />
              </div>
            );
          if (!isShort || !hasChanges) return <Changed key={place} change={change} id={`part-${place}`} />;
          return all[place - 1]?.change === 'same' ? null : (
            <p key={place} className={css.skipped}>
              …
            </p>
          );
        })}
      </div>
    </>
  );
}
