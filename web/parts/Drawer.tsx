import { ActionIcon, Menu } from '@mantine/core';
import { IconChevronDown, IconChevronUp, IconDots, IconLink, IconX } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { t } from '../texts';
import css from './Drawer.module.css';
import { toast } from './toast';

type Props = {
  reference: string;
  title: ReactNode;
  /** What a screen reader calls it. */
  name: string;
  onClose: () => void;
  onStep?: (step: 1 | -1) => void;
  /** Items of the menu. */
  more?: ReactNode;
  children: ReactNode;
  foot?: ReactNode;
};

/** A menu, a list of choices or a dialog is closed by Esc itself, and nothing around it. */
const isInner = (target: EventTarget) =>
  target instanceof Element && target.closest('[aria-expanded=true], [role=menu], [role=listbox], [role=dialog]') !== null;
const isOpenElsewhere = () => document.querySelector('[aria-haspopup][aria-expanded=true], [role=dialog]') !== null;

/** One record beside its register. It takes the focus when it opens and gives it back when it closes. */
export function Drawer({ reference, title, name, onClose, onStep, more, children, foot }: Props) {
  const panel = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const opener = useRef<Element | null>(null);
  useEffect(() => {
    opener.current ??= document.activeElement;
    // A box that asked for the focus itself keeps it.
    if (!panel.current?.contains(document.activeElement)) heading.current?.focus({ preventScroll: true });
  }, [reference]);
  useEffect(
    () => () => {
      if (opener.current instanceof HTMLElement) opener.current.focus({ preventScroll: true });
    },
    [],
  );
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    // What had the focus may be gone; Esc is then heard by the page alone. Heard before a dialog that it closes is gone, too.
    const press = ({ key, target }: KeyboardEvent) => {
      if (key === 'Escape' && target === document.body && !isOpenElsewhere()) close.current();
    };
    addEventListener('keydown', press, { capture: true });
    return () => removeEventListener('keydown', press, { capture: true });
  }, []);

  return (
    <aside
      ref={panel}
      className={css.drawer}
      aria-label={name}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.defaultPrevented && !isInner(event.target)) onClose();
      }}
    >
      <div className={css.bar}>
        <span className="mono t3">{reference}</span>
        <span className={css.spring} />
        {onStep && (
          <>
            <ActionIcon aria-label={t.record.previous} onClick={() => onStep(-1)}>
              <IconChevronUp size={17} stroke={1.6} />
            </ActionIcon>
            <ActionIcon aria-label={t.record.next} onClick={() => onStep(1)}>
              <IconChevronDown size={17} stroke={1.6} />
            </ActionIcon>
          </>
        )}
        <ActionIcon
          aria-label={t.actions.copyLink}
          onClick={() => void navigator.clipboard.writeText(location.href).then(() => toast(t.actions.copied))}
        >
          <IconLink size={17} stroke={1.6} />
        </ActionIcon>
        {more && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon aria-label={t.record.more}>
                <IconDots size={17} stroke={1.6} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>{more}</Menu.Dropdown>
          </Menu>
        )}
        <ActionIcon aria-label={t.record.close} onClick={onClose}>
          <IconX size={17} stroke={1.6} />
        </ActionIcon>
      </div>
      <div className={css.body} tabIndex={0} role="region" aria-label={name}>
        <h2 ref={heading} tabIndex={-1} className={css.title}>
          {title}
        </h2>
        {children}
      </div>
      {foot && <div className={css.foot}>{foot}</div>}
    </aside>
  );
}
