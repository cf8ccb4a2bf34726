import { Kbd, Modal } from '@mantine/core';
import { useState } from 'react';
import { t } from '../texts';
import css from './keys.module.css';
import { useShortcuts } from './shortcuts';

/** The key that commands are given with, as this platform prints it. */
export const COMMAND = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl';

type Line = [keys: string[], what: string];

const groups = (): [string, Line[]][] => {
  const { keys } = t;
  return [
    [
      keys.everywhere,
      [
        [[COMMAND, 'K'], keys.palette],
        [[COMMAND, 'Z'], keys.undo],
        [['Esc'], keys.close],
        [['?'], keys.all],
      ],
    ],
    [
      keys.lists,
      [
        [['J'], keys.next],
        [['K'], keys.previous],
        [['Enter'], keys.open],
        [['X'], keys.select],
        [['Shift', 'X'], keys.range],
        [['E'], keys.status],
        [['C'], keys.comment],
        [['N'], keys.new],
        [['/'], keys.search],
        [['Alt', '↓', '↑'], keys.week],
      ],
    ],
    [keys.texts, [[[COMMAND, 'Enter'], keys.send]]],
  ];
};

/** All keys, behind a question mark. */
export function KeySheet() {
  const [isOpen, setOpen] = useState(false);
  useShortcuts({ '?': () => setOpen(true) });
  return (
    <Modal
      opened={isOpen}
      onClose={() => setOpen(false)}
      title={t.keys.title}
      centered
      closeButtonProps={{ 'aria-label': t.actions.close }}
    >
      {groups().map(([heading, lines]) => (
        <section key={heading} className={css.group}>
          <h3>{heading}</h3>
          <dl>
            {lines.map(([names, what]) => (
              <div key={what}>
                <dt>{what}</dt>
                <dd>
                  {names.map((name) => (
                    <Kbd key={name}>{name}</Kbd>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Modal>
  );
}
