import { Alert, Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { words } from '../api/problem';
import { isFirst } from '../api/query';
import { useMe } from '../api/session';
import { MissingPage, SectionError } from '../parts/ErrorPage';
import { Glyph } from '../parts/glyphs';
import { PageHeader } from '../parts/PageHeader';
import { useView } from '../parts/search';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { FrameworksStep } from './Frameworks';
import { PeopleStep } from './People';
import { Preview } from './Preview';
import css from './plan.module.css';
import { type Framework, start, undo, useFrameworks, useProgramme, useQuestions } from './queries';
import { askedOf, type Question } from './questions';
import { ScopeStep } from './Scope';
import { bodyOf, ROLES, type Settings, STEPS, type Step, useSettings } from './settings';

export function SetUp() {
  const { can } = useMe();
  return can('programme:update') ? <Wizard /> : <MissingPage />;
}

function Wizard() {
  const programme = useProgramme();
  const frameworks = useFrameworks();
  const questions = useQuestions();
  const asked = [programme, frameworks, questions];
  const failed = asked.find(({ error }) => error);
  if (failed)
    return (
      <>
        <PageHeader title={t.plan.setUp} />
        <SectionError error={failed.error} onRetry={() => void failed.refetch()} />
      </>
    );
  if (programme.data === undefined || !frameworks.data || !questions.data)
    return (
      <div aria-busy={asked.some(isFirst)}>
        <PageHeader title={t.plan.setUp} />
      </div>
    );
  return <Steps programme={programme.data} frameworks={frameworks.data.data} questions={questions.data.data} />;
}

/** What every step gets. */
export type StepProps = {
  settings: Settings;
  set: (next: Partial<Settings>) => void;
  frameworks: Framework[];
  questions: Question[];
  go: (step: Step) => void;
};

type Props = Pick<StepProps, 'frameworks' | 'questions'> & { programme: ReturnType<typeof useProgramme>['data'] };

function Steps({ programme, frameworks, questions }: Props) {
  const { view, change } = useView();
  const navigate = useNavigate();
  const { settings, step: left, set, discard } = useSettings(programme, frameworks);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const isChosen = settings.frameworks.length > 0;
  const wanted = STEPS.find((one) => one === (view.step ?? left)) ?? 'frameworks';
  // Without a framework there is nothing to ask.
  const step = isChosen ? wanted : 'frameworks';
  const at = STEPS.indexOf(step);
  const title = useRef<HTMLHeadingElement>(null);
  const first = useRef(step);

  // The heading of the next step is read, and shown from its beginning.
  useEffect(() => {
    if (first.current === step) return;
    first.current = step;
    title.current?.focus();
    document.getElementById('main')?.scrollTo(0, 0);
  }, [step]);

  const go = (next: Step) => {
    setProblem(undefined);
    set({ step: next });
    void change({ step: next });
  };
  const asked = askedOf(questions, settings.answers, settings.frameworks);
  const answered = asked.filter(({ key }) => settings.answers[key] !== undefined).length;
  const hints: Record<Step, string> = {
    frameworks: t.plan.steps.chosen(
      frameworks.filter(({ alias }) => settings.frameworks.includes(alias)).map(({ name }) => name.replace(/ \(.*\)$/, '')),
    ),
    scope: t.plan.steps.answered(answered, asked.length),
    people: t.plan.steps.filled(ROLES.filter((role) => settings.owners[role]).length, ROLES.length),
    plan: '',
  };

  async function send() {
    setBusy(true);
    setProblem(undefined);
    try {
      const { created, startId } = await start(bodyOf(settings, questions));
      discard();
      await navigate({ to: '/plan' });
      toast(t.plan.started(created.controls + created.policies + created.tasks), {
        ...(startId && {
          undo: () =>
            undo(startId)
              .then((undone) => toast(t.plan.undone(undone?.deleted ?? 0)))
              .catch((error) => toast(words(error), { bad: true })),
        }),
      });
    } catch (error) {
      setProblem(words(error));
      setBusy(false);
    }
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    // A form in a panel over this one is its own.
    if (event.target !== event.currentTarget) return;
    const next = STEPS[at + 1];
    if (!isChosen) event.currentTarget.querySelector('input')?.focus();
    else if (next) go(next);
    else void send();
  }

  const props: StepProps = { settings, set, frameworks, questions, go };
  const heading = t.plan[step === 'plan' ? 'preview' : step];
  const verb = {
    frameworks: isChosen ? t.plan.frameworks.continue(settings.frameworks.length) : t.plan.frameworks.choose,
    scope: t.plan.wizard.next,
    people: t.plan.wizard.next,
    plan: programme ? t.plan.preview.update : t.plan.preview.start,
  }[step];

  return (
    <div className={css.wizard}>
      <nav className={css.steps} aria-label={t.plan.steps.label}>
        <p className={css.at}>{t.plan.steps.at(at + 1, STEPS.length, t.plan.steps[step])}</p>
        <ol>
          {STEPS.map((one, place) => (
            <li key={one}>
              <button
                type="button"
                className={`plain ${css.step}`}
                aria-current={one === step ? 'step' : undefined}
                disabled={!isChosen && place > 0}
                onClick={() => go(one)}
              >
                <Glyph
                  shape={place < at ? 'check' : place === at ? 'half' : 'ring'}
                  tone={place < at ? 'ok' : place === at ? 'info' : 'mute'}
                />
                <span>
                  {t.plan.steps[one]}
                  {place < at && hints[one] && <small>{hints[one]}</small>}
                </span>
              </button>
            </li>
          ))}
        </ol>
        <p className={css.saved}>{t.plan.steps.saved}</p>
      </nav>
      <form className={css.content} onSubmit={submit} noValidate>
        <h1 ref={title} tabIndex={-1} className={css.title}>
          {heading.title}
        </h1>
        <p className={css.lead}>{heading.lead}</p>
        {step === 'frameworks' && <FrameworksStep {...props} />}
        {step === 'scope' && <ScopeStep {...props} />}
        {step === 'people' && <PeopleStep {...props} />}
        {step === 'plan' && <Preview {...props} />}
        {problem && (
          <Alert color="red" variant="light" role="alert" mt="lg">
            {problem}
          </Alert>
        )}
        <Foot
          verb={verb}
          busy={busy}
          onBack={at > 0 ? () => go(STEPS[at - 1] ?? 'frameworks') : undefined}
          onLater={() => void navigate({ to: programme ? '/plan' : '/' })}
        />
      </form>
    </div>
  );
}

type FootProps = { verb: ReactNode; busy: boolean; onBack?: () => void; onLater: () => void };

function Foot({ verb, busy, onBack, onLater }: FootProps) {
  return (
    <div className={css.foot}>
      <Button type="submit" size="md" loading={busy}>
        {verb}
      </Button>
      {onBack && (
        <Button variant="default" size="md" onClick={onBack}>
          {t.plan.wizard.back}
        </Button>
      )}
      <Button variant="subtle" size="md" onClick={onLater}>
        {t.plan.wizard.later}
      </Button>
    </div>
  );
}
