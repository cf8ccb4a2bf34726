import type { ReactNode } from 'react';
import { words } from '../../api/problem';
import { saveFromList } from '../../api/records';
import { t } from '../../texts';
import { Was } from '../AsOfBar';
import { day, daysBetween } from '../format';
import type { Group } from '../list/Arrange';
import type { Column } from '../list/Table';
import { Person } from '../Person';
import { StatusPill, StatusSelect } from '../StatusPill';
import { toast } from '../toast';
import { type Definition, type Row, statusOf, value } from './definition';
import { Scores } from './Rating';
import css from './Register.module.css';

type Names = (id: string | null | undefined) => string | undefined;
type Options = {
  mayChange: boolean;
  /** The day that is shown. */
  on: string;
  /** The rows as they were later and how their values read, if these are of the past. */
  later?: { rows: Map<string, Row>; say: (value: string) => string };
};

export function columns(d: Definition, name: Names, { mayChange, on, later }: Options): Column<Row>[] {
  const since = (row: Row, changed: (now: Row) => boolean, text: (now: Row) => string, shown: ReactNode) => {
    const now = later?.rows.get(row.id);
    return later && now && changed(now) ? <Was later={later.say(text(now))}>{shown}</Was> : shown;
  };
  const read = (row: Row, field: string) => {
    const word = String(value(row, field) ?? '');
    return d.fields.find((one) => one.name === field)?.choices?.[word] ?? word;
  };
  return [
    {
      key: 'reference',
      priority: 3,
      header: d.texts.columns.reference,
      width: 76,
      sort: 'createdAt',
      render: (row) => <span className="mono t3">{row.reference}</span>,
    },
    { key: 'title', header: d.texts.columns.title, opens: true, sort: d.nameField, render: (row) => d.name(row) },
    {
      key: 'assigneeId',
      priority: 4,
      header: d.texts.columns.owner,
      width: 150,
      sort: 'assignee',
      render: (row) => <Person name={name(row.assigneeId)} short />,
    },
    {
      key: 'residualScore',
      priority: 1,
      header: d.texts.columns.score,
      width: 132,
      sort: 'residualScore',
      isHighFirst: true,
      render: (row) =>
        since(
          row,
          (now) => now.residualScore !== row.residualScore || now.inherentScore !== row.inherentScore,
          (now) => `${now.inherentScore} → ${now.residualScore}`,
          <Scores row={row} />,
        ),
    },
    {
      key: 'status',
      priority: 2,
      header: d.texts.columns.status,
      width: 140,
      sort: 'status',
      render: (row) =>
        mayChange ? (
          <StatusSelect
            value={row.status}
            options={d.statuses}
            name={`${row.reference} ${d.texts.columns.status}`}
            onChange={(next) =>
              void saveFromList(
                d.path,
                row.id,
                { status: next },
                { status: row.status },
                `${row.reference}: ${statusOf(d, next).label}`,
              ).catch((problem: unknown) => toast(words(problem), { bad: true }))
            }
          />
        ) : (
          since(
            row,
            (now) => now.status !== row.status,
            (now) => statusOf(d, now.status).label,
            <StatusPill {...statusOf(d, row.status)} />,
          )
        ),
    },
    {
      key: 'reviewDate',
      priority: 5,
      header: d.texts.columns.review,
      width: 100,
      align: 'right',
      sort: 'reviewDate',
      render: (row) => row.reviewDate && <span className={row.reviewDate < on ? css.late : 't2'}>{day(row.reviewDate)}</span>,
      dropped: (row) =>
        row.reviewDate && row.reviewDate < on && <span className={css.late}>{t.time.late(daysBetween(row.reviewDate, on))}</span>,
    },
    {
      key: 'category',
      priority: 6,
      header: d.labels.category ?? '',
      width: 140,
      sort: 'category',
      isExtra: true,
      render: (row) => <span className="t2">{read(row, 'category')}</span>,
    },
    {
      key: 'treatmentStrategy',
      priority: 7,
      header: d.labels.treatmentStrategy ?? '',
      width: 120,
      sort: 'treatmentStrategy',
      isExtra: true,
      render: (row) => (
        <span className={row.treatmentDecidedAt ? 't2' : 't3'}>
          {row.treatmentDecidedAt ? read(row, 'treatmentStrategy') : t.scales.notSet}
        </span>
      ),
    },
    {
      key: 'inherentScore',
      priority: 8,
      header: t.scales.inherent,
      width: 100,
      align: 'right',
      sort: 'inherentScore',
      isHighFirst: true,
      isExtra: true,
      render: (row) => (row.isAssessed ? row.inherentScore : <span className="t3">{t.scales.notSet}</span>),
    },
    {
      key: 'updatedAt',
      priority: 9,
      header: t.record.changedOn,
      width: 110,
      align: 'right',
      sort: 'updatedAt',
      isHighFirst: true,
      isExtra: true,
      render: (row) => <span className="t2">{day(row.updatedAt)}</span>,
    },
    ...(d.columns ?? []),
  ];
}

/** What rows can be grouped by. */
export function groups(d: Definition, name: Names): Group<Row>[] {
  const word = (key: 'status' | 'category', row: Row) => {
    const own = String(value(row, key));
    return { key: own, label: d.fields.find((one) => one.name === key)?.choices?.[own] ?? own };
  };
  return [
    {
      key: 'owner',
      label: d.texts.columns.owner,
      sort: 'assignee',
      of: (row) => ({ key: row.assigneeId ?? '', label: name(row.assigneeId) ?? t.record.noOwner }),
    },
    { key: 'status', label: d.texts.columns.status, sort: 'status', of: (row) => word('status', row) },
    { key: 'category', label: d.labels.category ?? '', sort: 'category', of: (row) => word('category', row) },
  ];
}
