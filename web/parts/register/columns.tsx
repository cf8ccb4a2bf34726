import type { ReactNode } from 'react';
import { words } from '../../api/problem';
import { refetch } from '../../api/query';
import { Was } from '../AsOfBar';
import { day } from '../format';
import { Person } from '../Person';
import type { Column } from '../RegisterTable';
import { StatusPill, StatusSelect } from '../StatusPill';
import { toast } from '../toast';
import { change } from './data';
import { type Definition, type Row, statusOf } from './definition';
import { Scores } from './Rating';
import css from './Register.module.css';

type Names = (id: string | null | undefined) => string | undefined;
type Options = {
  mayChange: boolean;
  /** A record is open beside the table. */
  isNarrow: boolean;
  /** The day that is shown. */
  on: string;
  /** The rows as they were later and how their values read, if these are of the past. */
  later?: { rows: Map<string, Row>; say: (value: string) => string };
};

export function columns(d: Definition, name: Names, { mayChange, isNarrow, on, later }: Options): Column<Row>[] {
  const since = (row: Row, changed: (now: Row) => boolean, text: (now: Row) => string, shown: ReactNode) => {
    const now = later?.rows.get(row.id);
    return later && now && changed(now) ? <Was later={later.say(text(now))}>{shown}</Was> : shown;
  };
  const all: (Column<Row> | false)[] = [
    {
      key: 'reference',
      header: d.texts.columns.reference,
      width: 76,
      render: (row) => <span className="mono t3">{row.reference}</span>,
    },
    { key: 'title', header: d.texts.columns.title, opens: true, sortable: true, render: (row) => d.name(row) },
    !isNarrow && {
      key: 'assigneeId',
      header: d.texts.columns.owner,
      width: 150,
      render: (row) => <Person name={name(row.assigneeId)} short />,
    },
    {
      key: 'residualScore',
      header: d.texts.columns.score,
      width: 112,
      sortable: true,
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
      header: d.texts.columns.status,
      width: 140,
      render: (row) =>
        mayChange ? (
          <StatusSelect
            value={row.status}
            options={d.statuses}
            name={`${row.reference} ${d.texts.columns.status}`}
            onChange={(next) =>
              void change(d, row.id, { status: next })
                .then(() => refetch(d.path))
                .catch((problem: unknown) => toast(words(problem), { bad: true }))
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
    !isNarrow && {
      key: 'reviewDate',
      header: d.texts.columns.review,
      width: 100,
      align: 'right',
      render: (row) => row.reviewDate && <span className={row.reviewDate < on ? css.late : 't2'}>{day(row.reviewDate)}</span>,
    },
  ];
  return all.filter((one) => one !== false);
}
