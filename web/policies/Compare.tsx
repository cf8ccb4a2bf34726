import { ActionIcon, Select } from '@mantine/core';
import { IconArrowRight, IconX } from '@tabler/icons-react';
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
      <div className={`${textCss.text} ${css.diff}`} data-numbered={isNumbered(nodes) || undefined}>
        {data?.changes.map((change, place) => (
          <Changed key={place} change={change} id={`part-${place}`} />
        ))}
      </div>
    </>
  );
}
