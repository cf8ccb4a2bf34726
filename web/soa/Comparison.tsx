import { Button, Switch } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { useState } from 'react';
import { $api, type Schemas } from '../api/client';
import { usePeople } from '../api/people';
import { SectionError } from '../parts/ErrorPage';
import { t } from '../texts';
import css from './soa.module.css';

type Compared = Schemas['SoaComparedRow'];
type Answer = Schemas['SoaAnswer'];

/** Two versions row by row: what each says, where they differ. */
export function Comparison({ before, after, onLeave }: { before: string; after: string; onLeave: () => void }) {
  const people = usePeople();
  const [changesOnly, setChangesOnly] = useState(true);
  const { data, error, refetch } = $api.useQuery('get', '/v1/soa/documents/{id}/diff/{other}', {
    params: { path: { id: before, other: after } },
  });
  const { compare } = t.soa;
  const read = (field: string, answer: Answer | null): string => {
    if (!answer) return t.soa.unanswered;
    const value = answer[field as keyof Answer];
    if (field === 'isApplicable') return value ? t.soa.yes : t.soa.no;
    if (value === null || value === undefined || value === '') return t.edits.none;
    if (field === 'ownerId') return people.name(String(value)) ?? String(value);
    if (field === 'implementationStatus')
      return t.soa.implementation[value as keyof typeof t.soa.implementation] ?? String(value);
    if (field === 'state') return value === 'confirmed' ? t.soa.yes : t.soa.no;
    return String(value);
  };
  if (error) return <SectionError error={error} onRetry={() => void refetch()} />;
  const isSame = ({ change }: Compared) => change === 'same' || change === 'unanswered';
  const changed = data?.rows.filter((row) => !isSame(row)) ?? [];
  const rows = changesOnly ? changed : (data?.rows ?? []);
  return (
    <section aria-label={data ? compare.title(data.before.version, data.after.version) : t.soa.versions.title}>
      <div className={css.notice}>
        <Button size="xs" variant="default" leftSection={<IconArrowLeft size={14} />} onClick={onLeave}>
          {compare.leave}
        </Button>
        <p>
          {data && (
            <>
              <b>{compare.title(data.before.version, data.after.version)}</b>{' '}
              <span className="t2">{compare.count(changed.length, data.rows.length)}</span>
            </>
          )}
        </p>
        <Switch
          label={compare.changedOnly}
          checked={changesOnly}
          onChange={(event) => setChangesOnly(event.currentTarget.checked)}
        />
      </div>
      {data && rows.length === 0 && <p className={css.none}>{compare.none}</p>}
      {data && rows.length > 0 && (
        <table className={css.diff}>
          <colgroup>
            <col style={{ width: 96 }} />
            <col style={{ width: '30%' }} />
            <col style={{ width: 110 }} />
            <col />
          </colgroup>
          <thead>
            <tr>
              <th scope="col">{t.soa.columns.code}</th>
              <th scope="col">{t.soa.columns.control}</th>
              <th scope="col">{compare.what}</th>
              <th scope="col">
                {compare.before(data.before.version)} → {compare.before(data.after.version)}
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.questionId}>
                <th scope="row" className="mono t3">
                  {row.code}
                </th>
                <td>{row.title}</td>
                <td>{compare.change[row.change]}</td>
                <td>
                  {row.change === 'added' && <ins>{read('isApplicable', row.after)}</ins>}
                  {row.change === 'removed' && <del>{read('isApplicable', row.before)}</del>}
                  {row.change === 'same' && <span className="t2">{read('isApplicable', row.after)}</span>}
                  {row.change === 'changed' &&
                    row.fields.map((field) => (
                      <p key={field}>
                        <small>{compare.fields[field] ?? field}</small>
                        <del>{read(field, row.before)}</del>{' '}
                        <span aria-label={t.record.became} role="img">
                          →
                        </span>{' '}
                        <ins>{read(field, row.after)}</ins>
                      </p>
                    ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
