import { ActionIcon } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { $api } from '../api/client';
import { isFirst } from '../api/query';
import { useMe } from '../api/session';
import { Glyph } from '../parts/glyphs';
import { to } from '../parts/to';
import { t } from '../texts';
import css from './Home.module.css';
import { useTasks } from './queries';

type Step = { label: string; to: string; done: boolean };

/** What a new organization does first. Nothing, once all of it is done or it was dismissed. */
export function useSetUp(): { steps: Step[]; isPending: boolean; hide: () => void } {
  const { can } = useMe();
  const [isHidden, setHidden] = useLocalStorage({
    key: 'attestry.set-up-hidden',
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const enabled = can('organization:update') && can('risk:read') && !isHidden;
  const one = { limit: 1, total: true } as const;
  const people = $api.useQuery('get', '/v1/people', { params: { query: one } }, { enabled });
  const risks = $api.useQuery('get', '/v1/risks', { params: { query: one } }, { enabled });
  const policies = $api.useQuery('get', '/v1/policies', { params: { query: { ...one, isPublished: true } } }, { enabled });
  const controls = $api.useQuery('get', '/v1/controls', { params: { query: one } }, { enabled });
  const portal = $api.useQuery('get', '/v1/trust-portal/settings', {}, { enabled });
  const tasks = useTasks({}, enabled);
  const asked = [people, risks, policies, controls, portal, tasks];
  const hide = () => setHidden(true);
  if (!enabled || asked.some(({ data }) => data === undefined)) return { steps: [], isPending: asked.some(isFirst), hide };
  const { steps } = t.home;
  const all = [
    { label: steps.people, to: '/people?new=yes', done: (people.data?.total ?? 0) > 1 },
    { label: steps.plan, to: '/plan/set-up', done: (controls.data?.total ?? 0) > 0 },
    { label: steps.risks, to: '/risks?new=yes', done: (risks.data?.total ?? 0) > 0 },
    { label: steps.evidence, to: '/tasks', done: tasks.data?.some((task) => task.evidenceStatus !== 'none') ?? false },
    { label: steps.policies, to: '/policies', done: (policies.data?.total ?? 0) > 0 },
    { label: steps.portal, to: '/trust-portal', done: portal.data?.status === 'published' },
  ];
  return { steps: all.every(({ done }) => done) ? [] : all, isPending: false, hide };
}

export function SetUpStrip({ steps: all, hide }: { steps: Step[]; hide: () => void }) {
  const done = all.filter((step) => step.done).length;
  return (
    <section className={css.strip} aria-label={t.home.setUp}>
      <b>{t.home.setUp}</b>
      <span className={css.steps} role="img" aria-label={t.home.stepsDone(done, all.length)}>
        {all.map((step) => (
          <i key={step.label} data-done={step.done || undefined} />
        ))}
      </span>
      <ul>
        {all.map((step) => (
          <li key={step.label}>
            <Glyph shape={step.done ? 'check' : 'dash'} tone={step.done ? 'ok' : 'info'} />
            {step.done ? (
              <span className="t2">{step.label}</span>
            ) : (
              <Link {...to(step.to)} className="link">
                {step.label}
              </Link>
            )}
          </li>
        ))}
      </ul>
      <ActionIcon aria-label={t.home.hideSetUp} onClick={hide}>
        <IconX size={16} />
      </ActionIcon>
    </section>
  );
}
