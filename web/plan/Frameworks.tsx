import { Checkbox } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { t } from '../texts';
import css from './plan.module.css';
import { type Framework, useControlKeys } from './queries';
import type { StepProps } from './SetUp';

const NONE = new Set<string>();

/** Which frameworks the plan is for, and how much of each the choice covers already. */
export function FrameworksStep({ settings, set, frameworks }: StepProps) {
  const words = t.plan.frameworks;
  const chosen = settings.frameworks;
  const keys = useControlKeys(
    frameworks.map(({ alias }) => alias),
    {},
  );
  const all = new Set(chosen.flatMap((alias) => [...(keys.get(alias) ?? NONE)]));
  const shared = [...all].filter((key) => chosen.filter((alias) => keys.get(alias)?.has(key)).length > 1);
  const requirements = frameworks
    .filter(({ alias }) => chosen.includes(alias))
    .reduce((sum, { totalRequirements }) => sum + totalRequirements, 0);
  const toggle = (alias: string) =>
    set({ frameworks: chosen.includes(alias) ? chosen.filter((one) => one !== alias) : [...chosen, alias] });
  return (
    <>
      <fieldset className={css.cards}>
        <legend className="hidden-visually">{words.legend}</legend>
        {frameworks.map((framework) => (
          <Card
            key={framework.id}
            framework={framework}
            isChosen={chosen.includes(framework.alias)}
            own={keys.get(framework.alias)}
            others={new Set(chosen.filter((one) => one !== framework.alias).flatMap((one) => [...(keys.get(one) ?? NONE)]))}
            onToggle={() => toggle(framework.alias)}
          />
        ))}
      </fieldset>
      <div className={css.sum} aria-live="polite" hidden={all.size === 0}>
        <b>{words.sum(all.size, requirements)}</b>
        <p>{words.sumText(shared.length)}</p>
      </div>
      <p className={css.note}>
        {words.upload}{' '}
        <Link to="/frameworks" search={{ new: 'yes' }} className="link">
          {words.uploadLink}
        </Link>
      </p>
    </>
  );
}

type CardProps = {
  framework: Framework;
  isChosen: boolean;
  /** The controls it needs by itself; undefined until they are known. */
  own?: Set<string>;
  /** Those of the other chosen frameworks. */
  others: Set<string>;
  onToggle: () => void;
};

function Card({ framework, isChosen, own, others, onToggle }: CardProps) {
  const words = t.plan.frameworks;
  const { id, name, description, totalRequirements, isOwn } = framework;
  const shared = own ? [...own].filter((key) => others.has(key)).length : 0;
  const covered = own && own.size > 0 ? (100 * shared) / own.size : 0;
  return (
    <label className={css.card} htmlFor={id} data-chosen={isChosen || undefined}>
      <span className={css.cardHead}>
        <Checkbox
          id={id}
          checked={isChosen}
          onChange={onToggle}
          aria-labelledby={`${id}-name`}
          aria-describedby={`${id}-text ${id}-facts`}
        />
        <b id={`${id}-name`}>{name}</b>
        {isOwn && <span className={css.own}>{words.own}</span>}
      </span>
      <span id={`${id}-text`} className={css.cardText}>
        {description}
      </span>
      <span id={`${id}-facts`} className={css.cardFacts}>
        <span className={css.between}>
          <span>{words.requirements(totalRequirements)}</span>
          <span>{own && own.size > 0 ? words.controls(own.size) : '\u00a0'}</span>
        </span>
        <span className={css.meter} aria-hidden="true">
          <i style={{ width: `${covered}%` }} />
        </span>
        <small>
          {own === undefined
            ? '\u00a0'
            : own.size === 0
              ? words.notMapped
              : others.size === 0
                ? '\u00a0'
                : isChosen
                  ? words.shared(shared)
                  : words.covered(shared, own.size - shared)}
        </small>
      </span>
    </label>
  );
}
