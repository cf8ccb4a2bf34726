import { Alert, Button, Skeleton, TextInput } from '@mantine/core';
import { lazy, Suspense, useEffect, useState } from 'react';
import { usePeople } from '../api/people';
import { Problem, sentence, words as told } from '../api/problem';
import { useMe } from '../api/session';
import { useDraft } from '../parts/drafts';
import { SectionError } from '../parts/ErrorPage';
import { moment, utc } from '../parts/format';
import { toast } from '../parts/toast';
import { t } from '../texts';
import css from './Automations.module.css';
import { type Automation, addVersion, useVersions } from './automated';
import { type ScriptProblem, scriptProblem } from './problems';
import { failed } from './queries';

const LazyEditor = lazy(() => import('./Editor'));

type EditorProps = { label?: string; value: string; onChange?: (next: string) => void; problem?: ScriptProblem };

/** The editor, fetched when it is first needed. */
export function CodeEditor(props: EditorProps) {
  return (
    <div className={css.editor}>
      <Suspense fallback={<Skeleton height={160} radius={0} animate={false} aria-label={t.tasks.scripts.loading} />}>
        <LazyEditor {...props} label={props.label ?? t.tasks.scripts.label} />
      </Suspense>
    </div>
  );
}

/** What the server says about a script, and where. */
export function refusal(error: unknown): { problem?: ScriptProblem; text?: string } {
  const own = error instanceof Problem ? error.errors.find(({ field }) => field === 'script') : undefined;
  if (!own) return { text: told(error) };
  const problem = scriptProblem(own.message);
  return problem ? { problem } : { text: sentence(own.message) };
}

/** A mistake in words, with the place where it is. */
export function Refusal({ problem, text }: { problem?: ScriptProblem; text?: string }) {
  if (!problem && !text) return null;
  return (
    <Alert color="red" variant="light" role="alert">
      {t.tasks.scripts.refused} {problem && <b>{t.tasks.scripts.at(problem.line, problem.column)}: </b>}
      {problem?.message ?? text}
    </Alert>
  );
}

/** The script that runs; what is changed in it becomes a new version. */
export function Script({ automation }: { automation: Automation }) {
  const { can } = useMe();
  const { data, error, refetch: again } = useVersions(automation);
  const [draft, setDraft, forget] = useDraft<string | null>(`script:${automation.id}`, null);
  const [changelog, setChangelog] = useState('');
  const [refused, setRefused] = useState<ReturnType<typeof refusal>>({});
  const [busy, setBusy] = useState(false);
  const words = t.tasks.scripts;
  const current = data?.data.find(({ version }) => version === automation.latestVersion)?.script ?? '';
  const isChanged = draft !== null && draft !== current;
  const next = (automation.latestVersion ?? 0) + 1;

  // What was saved stays in the editor until it is read back: the version before it must not come back in between.
  useEffect(() => {
    if (data && draft === current) forget();
  }, [data, draft, current, forget]);

  function discard() {
    forget();
    setRefused({});
  }

  async function save() {
    setBusy(true);
    setRefused({});
    try {
      await addVersion(automation, { script: draft ?? '', changelog: changelog.trim() || undefined });
      setChangelog('');
      toast(words.saved(next));
    } catch (problem) {
      setRefused(refusal(problem));
    } finally {
      setBusy(false);
    }
  }

  if (error) return <SectionError error={error} onRetry={() => void again()} />;
  if (!data) return <Skeleton height={200} animate={false} />;
  return (
    <div className={css.panel}>
      <CodeEditor value={draft ?? current} onChange={can('automation:update') ? setDraft : undefined} problem={refused.problem} />
      <Refusal {...refused} />
      {isChanged ? (
        <div className={css.save}>
          <TextInput
            label={`${words.changelog} ${t.forms.optional}`}
            value={changelog}
            onChange={(event) => setChangelog(event.currentTarget.value)}
          />
          <Button variant="subtle" onClick={discard}>
            {words.discard}
          </Button>
          <Button variant="default" onClick={() => void save()} loading={busy}>
            {words.save(next)}
          </Button>
        </div>
      ) : (
        <p className={css.help}>{words.help}</p>
      )}
    </div>
  );
}

/** All versions, the newest first; an old one can run again. */
export function Versions({ automation }: { automation: Automation }) {
  const { can } = useMe();
  const people = usePeople();
  const { data, error, refetch: again } = useVersions(automation);
  const [shown, setShown] = useState<number>();
  const words = t.tasks.scripts;
  if (error) return <SectionError error={error} onRetry={() => void again()} />;
  const versions = [...(data?.data ?? [])].sort((a, b) => b.version - a.version);
  const restore = (version: number, script: string) =>
    void addVersion(automation, { script, changelog: words.restored(version) })
      .then((made) => made && toast(words.saved(made.version)))
      .catch(failed);
  return (
    <div className={css.panel}>
      {data && versions.length === 0 && <p className="t3">{words.none}</p>}
      <ol>
        {versions.map(({ id, version, changelog, createdAt, createdBy, script }) => (
          <li key={id} className={css.version}>
            <div className={css.versionHead}>
              <b className="num">{version}</b>
              <span className={css.versionWords}>
                {changelog}
                <small className="t3" title={utc(createdAt)}>
                  {moment(createdAt)} {people.name(createdBy) && words.by(people.name(createdBy) ?? '')}
                </small>
              </span>
              {version === automation.latestVersion && <span className="t3">{words.current}</span>}
              <Button
                size="xs"
                variant="subtle"
                aria-expanded={shown === version}
                onClick={() => setShown(shown === version ? undefined : version)}
              >
                {words.show(version)}
              </Button>
            </div>
            {shown === version && (
              <>
                <CodeEditor value={script} label={words.show(version)} />
                {can('automation:update') && version !== automation.latestVersion && (
                  <Button size="xs" variant="default" mt={8} onClick={() => restore(version, script)}>
                    {words.restore}
                  </Button>
                )}
              </>
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}
