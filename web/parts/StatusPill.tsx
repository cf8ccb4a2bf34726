import { Menu } from '@mantine/core';
import { t } from '../texts';
import { Glyph, type Shape, type Tone } from './glyphs';
import css from './StatusPill.module.css';

export type Status = { label: string; tone: Tone; shape: Shape };

type Props = Status & {
  /** Tinted background. Only for states someone must act on, and for the page header. */
  loud?: boolean;
};

export function StatusPill({ label, tone, shape, loud }: Props) {
  return (
    <span className={loud ? `${css.pill} ${css.loud}` : css.pill} data-tone={tone}>
      <Glyph shape={shape} tone={tone} />
      {label}
    </span>
  );
}

/** A status changed where it stands: one click opens the choices, one click sets it. */
export function StatusSelect({
  value,
  options,
  onChange,
  name,
}: {
  value: string;
  options: Record<string, Status>;
  onChange: (next: string) => void;
  name: string;
}) {
  const now = options[value];
  if (!now) return null;
  return (
    <Menu width={180} position="bottom-start">
      <Menu.Target>
        <button type="button" className={`${css.pill} ${css.button}`} aria-label={t.edits.change(name, now.label)}>
          <Glyph shape={now.shape} tone={now.tone} />
          {now.label}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {Object.entries(options).map(([key, s]) => (
          <Menu.Item key={key} leftSection={<Glyph shape={s.shape} tone={s.tone} />} onClick={() => onChange(key)}>
            {s.label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
