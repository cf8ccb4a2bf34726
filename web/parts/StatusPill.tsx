import { Menu } from '@mantine/core';
import { type ComponentProps, useEffect, useState } from 'react';
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

type SelectProps = { value: string; options: Record<string, Status>; onChange: (next: string) => void; name: string };

/** A status changed where it stands: one click opens the choices, one click sets it. */
export function StatusSelect(p: SelectProps) {
  const [isUsed, setUsed] = useState(false);
  const now = p.options[p.value];
  if (!now) return null;
  // A register has one in each row, and hardly any is used: the menu is made when it is asked for.
  if (isUsed) return <Choices {...p} now={now} />;
  return <Now now={now} name={p.name} aria-haspopup="menu" aria-expanded={false} onClick={() => setUsed(true)} />;
}

function Now({ now, name, ...button }: { now: Status; name: string } & ComponentProps<'button'>) {
  return (
    <button type="button" {...button} className={`${css.pill} ${css.button}`} aria-label={t.edits.change(name, now.label)}>
      <Glyph shape={now.shape} tone={now.tone} />
      {now.label}
    </button>
  );
}

function Choices({ now, options, onChange, name }: SelectProps & { now: Status }) {
  const [isOpened, setOpened] = useState(false);
  // Opened once the button has the focus, so that the focus returns to it.
  useEffect(() => setOpened(true), []);
  return (
    <Menu width={180} position="bottom-start" opened={isOpened} onChange={setOpened}>
      <Menu.Target>
        <Now now={now} name={name} autoFocus />
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
