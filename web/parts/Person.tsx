import { t } from '../texts';
import css from './Person.module.css';

export const initials = (name: string) =>
  name
    .split(' ')
    .map((w) => w[0])
    .slice(0, 2)
    .join('');

export function Avatar({ name, size = 20 }: { name: string; size?: number }) {
  return (
    <span
      className={css.avatar}
      style={{ width: size, height: size, fontSize: Math.max(9, Math.round(size * 0.42)) }}
      aria-hidden="true"
    >
      {initials(name)}
    </span>
  );
}

export function Person({ name, short }: { name?: string; short?: boolean }) {
  if (!name) return <span className={css.none}>{t.record.noOwner}</span>;
  return (
    <span className={css.person}>
      <Avatar name={name} />
      <span className="clip">{short ? name.replace(/ (\S)\S*$/, ' $1.') : name}</span>
    </span>
  );
}
