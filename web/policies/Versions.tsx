import { Button } from '@mantine/core';
import { usePeople } from '../api/people';
import { SectionError } from '../parts/ErrorPage';
import { moment, utc } from '../parts/format';
import { Person } from '../parts/Person';
import { useView } from '../parts/search';
import { t } from '../texts';
import css from './Detail.module.css';
import type { PolicyView } from './fields';
import { downloadPolicy } from './print';
import { useVersions } from './queries';

/** Every version that was published, the newest first: open it, compare it, print it. */
export function Versions({ policy }: { policy: PolicyView }) {
  const { data, error, refetch } = useVersions(policy.id);
  const people = usePeople();
  const { change: go } = useView();
  if (error) return <SectionError error={error} onRetry={() => void refetch()} />;
  if (!data) return null;
  if (data.data.length === 0) return <p className="t2">{t.policies.noVersions}</p>;
  const versions = data.data.toSorted((a, b) => b.version - a.version);
  const { columns } = t.policies;
  return (
    <table className={css.rows}>
      <caption className="hidden-visually">{t.policies.tabs.versions}</caption>
      <thead>
        <tr>
          <th scope="col">{columns.version}</th>
          <th scope="col">{columns.published}</th>
          <th scope="col">{t.policies.fields.approverId}</th>
          <th scope="col">{columns.what}</th>
          <th scope="col">
            <span className="hidden-visually">{columns.actions}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {versions.map((one, place) => {
          const v = t.policies.v(one.version);
          const before = versions[place + 1];
          return (
            <tr key={one.id}>
              <td>
                <button
                  type="button"
                  className="plain link"
                  onClick={() => void go({ version: String(one.version), tab: undefined })}
                >
                  {v}
                </button>{' '}
                {one.id === policy.currentVersionId && <span className="t3">{t.policies.current}</span>}
              </td>
              <td>
                <time dateTime={one.publishedAt} title={utc(one.publishedAt)}>
                  {moment(one.publishedAt)}
                </time>
              </td>
              <td>
                <Person name={people.name(one.approverId)} short />
                {one.isSelfApproved && <div className="t3">{t.policies.selfApproved}</div>}
              </td>
              <td className="t2">{one.isChanged ? t.policies.changedText : t.policies.sameText}</td>
              <td>
                <span className={css.rowActions}>
                  {before && (
                    <Button
                      size="xs"
                      variant="default"
                      aria-label={t.policies.compareTwo(t.policies.v(before.version), v)}
                      onClick={() => void go({ compare: `${before.version}..${one.version}`, tab: undefined })}
                    >
                      {t.policies.compareWith(t.policies.v(before.version))}
                    </Button>
                  )}
                  {!one.file && (
                    <Button
                      size="xs"
                      variant="subtle"
                      aria-label={`${t.policies.pdf}: ${v}`}
                      onClick={() => downloadPolicy(policy.id, one.version)}
                    >
                      {t.policies.pdfShort}
                    </Button>
                  )}
                </span>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
