import { ActionIcon, Menu, Skeleton } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconDotsVertical } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type DragEvent, useState } from 'react';
import { valuesOf } from '../parts/FilterBar';
import { Glyph } from '../parts/glyphs';
import { Avatar } from '../parts/Person';
import { pastOf, useView } from '../parts/search';
import { t } from '../texts';
import css from './Board.module.css';
import { order, type Status, statuses, type Task } from './fields';
import type { Target } from './ordering';
import { move, setStatus } from './queries';
import { useNames, useRights } from './rights';
import { Due, Evidence } from './Table';

/** As many cards of a column as are shown at first. */
const FEW = 50;

/** A column for each status. Cards are dragged, or moved by their menu. */
export function Board({ tasks, only }: { tasks: Task[] | undefined; only?: string }) {
  const rights = useRights();
  const [dragged, setDragged] = useState<Task>();
  const [target, setTarget] = useState<Target>();
  const [said, setSaid] = useState('');
  const wanted = valuesOf(only);
  const shown = order.filter((status) => wanted.length === 0 || wanted.includes(status));

  async function drop(task: Task, to: Target) {
    if (to.before === task.id) return;
    if (!rights.mayChange) {
      if (to.status !== task.status) await setStatus(task, to.status);
      return;
    }
    if (await move(task, to)) setSaid(t.tasks.moved(task.reference, statuses()[to.status].label));
  }

  /** One place up or down within the column. */
  async function shift(task: Task, column: Task[], by: 1 | -1) {
    const at = column.findIndex(({ id }) => id === task.id);
    const before = column[by < 0 ? at - 1 : at + 2]?.id;
    if (await move(task, { status: task.status, before })) setSaid(t.tasks.placed(task.reference, at + by + 1, column.length));
  }

  return (
    <>
      <div className={css.board} role="region" aria-label={t.tasks.board} tabIndex={0} data-one={shown.length === 1 || undefined}>
        {shown.map((status) => {
          const column = tasks?.filter((task) => task.status === status);
          return (
            <Column
              key={status}
              status={status}
              tasks={column}
              dragged={dragged}
              target={target?.status === status ? target : undefined}
              onDrag={setDragged}
              onOver={(next) => setTarget((old) => (old?.status === next?.status && old?.before === next?.before ? old : next))}
              onDrop={(to) => {
                if (dragged) void drop(dragged, to);
                setDragged(undefined);
                setTarget(undefined);
              }}
              onShift={(task, by) => void shift(task, column ?? [], by)}
            />
          );
        })}
      </div>
      <p className="hidden-visually" role="status">
        {said}
      </p>
    </>
  );
}

type ColumnProps = {
  status: Status;
  tasks: Task[] | undefined;
  dragged: Task | undefined;
  target: Target | undefined;
  onDrag: (task: Task | undefined) => void;
  onOver: (target: Target | undefined) => void;
  onDrop: (target: Target) => void;
  onShift: (task: Task, by: 1 | -1) => void;
};

function Column({ status, tasks, dragged, target, onDrag, onOver, onDrop, onShift }: ColumnProps) {
  const [limit, setLimit] = useState(FEW);
  const { label, ...glyph } = statuses()[status];
  const cards = tasks?.slice(0, limit) ?? [];
  const rest = tasks?.slice(limit) ?? [];

  /** Before the first card whose middle is below the pointer; after the last one shown, before what is not shown. */
  function place(event: DragEvent<HTMLElement>): Target {
    const all = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-card]')];
    const next = all.find((card) => {
      const { top, height } = card.getBoundingClientRect();
      return card.dataset.card !== dragged?.id && event.clientY < top + height / 2;
    });
    return { status, before: next?.dataset.card ?? rest[0]?.id };
  }

  return (
    <section
      className={css.column}
      aria-label={label}
      data-over={target !== undefined || undefined}
      onDragOver={(event) => {
        if (!dragged) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = 'move';
        onOver(place(event));
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) onOver(undefined);
      }}
      onDrop={(event) => {
        event.preventDefault();
        onDrop(place(event));
      }}
    >
      <header className={css.head}>
        <Glyph {...glyph} />
        <h2>{label}</h2>
        <span className="t3 num">{tasks?.length ?? ''}</span>
      </header>
      {!tasks && [0, 1, 2].map((at) => <Skeleton key={at} height={84} radius={8} animate={false} mb={8} />)}
      <ol className={css.cards}>
        {cards.map((task, at) => (
          <Card
            key={task.id}
            task={task}
            isDragged={dragged?.id === task.id}
            isBefore={target?.before === task.id}
            onDrag={onDrag}
            onUp={at > 0 ? () => onShift(task, -1) : undefined}
            onDown={at < (tasks?.length ?? 0) - 1 ? () => onShift(task, 1) : undefined}
          />
        ))}
      </ol>
      {target && !cards.some(({ id }) => id === target.before) && <div className={css.mark} />}
      {tasks?.length === 0 && !target && <p className={css.none}>{t.tasks.emptyColumn}</p>}
      {rest.length > 0 && (
        <button type="button" className={`plain link ${css.rest}`} onClick={() => setLimit(limit + 4 * FEW)}>
          {t.tasks.showMore(rest.length)}
        </button>
      )}
    </section>
  );
}

type CardProps = {
  task: Task;
  isDragged: boolean;
  isBefore: boolean;
  onDrag: (task: Task | undefined) => void;
  onUp?: () => void;
  onDown?: () => void;
};

function Card({ task, isDragged, isBefore, onDrag, onUp, onDown }: CardProps) {
  const rights = useRights();
  const { view } = useView();
  const name = useNames()(task.assigneeId);
  const mayMove = rights.mayMove(task);
  return (
    <li
      className={css.card}
      data-card={task.id}
      data-dragged={isDragged || undefined}
      data-before={isBefore || undefined}
      draggable={mayMove}
      onDragStart={(event) => {
        event.dataTransfer.effectAllowed = 'move';
        event.dataTransfer.setData('text/plain', task.reference);
        onDrag(task);
      }}
      onDragEnd={() => onDrag(undefined)}
    >
      <div className={css.top}>
        <Link to="/tasks/$id" params={{ id: task.id }} search={pastOf(view)} className={css.title} draggable={false}>
          {task.title}
        </Link>
        {mayMove && (
          <Menu position="bottom-end" width={200}>
            <Menu.Target>
              <ActionIcon className={css.menu} aria-label={t.tasks.move(task.reference)}>
                <IconDotsVertical size={15} stroke={1.6} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Label>{t.tasks.setStatus}</Menu.Label>
              {order
                .filter((status) => status !== task.status)
                .map((status) => {
                  const { label, ...glyph } = statuses()[status];
                  return (
                    <Menu.Item key={status} leftSection={<Glyph {...glyph} />} onClick={() => void setStatus(task, status)}>
                      {label}
                    </Menu.Item>
                  );
                })}
              {rights.mayChange && (onUp || onDown) && <Menu.Label>{t.tasks.place}</Menu.Label>}
              {rights.mayChange && onUp && (
                <Menu.Item leftSection={<IconArrowUp size={14} />} onClick={onUp}>
                  {t.tasks.up}
                </Menu.Item>
              )}
              {rights.mayChange && onDown && (
                <Menu.Item leftSection={<IconArrowDown size={14} />} onClick={onDown}>
                  {t.tasks.down}
                </Menu.Item>
              )}
            </Menu.Dropdown>
          </Menu>
        )}
      </div>
      <div className={css.facts}>
        <span className="mono t3">{task.reference}</span>
        <Due task={task} />
        {task.evidenceStatus !== 'none' && <Evidence task={task} />}
        {name && (
          <span className={css.who} title={name}>
            <Avatar name={name} />
            <span className="hidden-visually">{name}</span>
          </span>
        )}
      </div>
    </li>
  );
}
