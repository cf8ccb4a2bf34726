import { useMemo } from 'react';
import { useMe } from '../api/session';
import { useDraft } from '../parts/drafts';
import type { Framework, PlanProgramme, Programme } from './queries';
import { type Answers, type Question, scopeOf } from './questions';

export const ROLES = [
  'management',
  'security_lead',
  'engineering_lead',
  'it_lead',
  'people_lead',
  'privacy_lead',
  'office_manager',
] as const;
export type Role = (typeof ROLES)[number];

export const STEPS = ['frameworks', 'scope', 'people', 'plan'] as const;
export type Step = (typeof STEPS)[number];

export type Settings = {
  /** Frameworks by their alias. */
  frameworks: string[];
  answers: Answers;
  /** Members by role; empty for nobody. */
  owners: Partial<Record<Role, string>>;
  auditDate: string | null;
};
type Draft = Partial<Settings> & { step?: Step };

const NONE: Draft = {};

/**
 * What somebody has answered so far. It stays in this browser until the plan is started; where nothing was answered yet,
 * the running programme's settings apply, and each role is the reader's own.
 */
export function useSettings(programme: Programme | null | undefined, frameworks: Framework[]) {
  const { memberId = '' } = useMe();
  const [draft, setDraft, discard] = useDraft<Draft>('plan', NONE);
  const settings = useMemo((): Settings => {
    const aliasOf = (id: string) => frameworks.find((one) => one.id === id)?.alias;
    const roles = ROLES.map((role) => [role, programme ? (programme.owners[role] ?? '') : memberId] as const);
    return {
      frameworks: draft.frameworks ?? (programme?.frameworkIds ?? []).flatMap((id) => aliasOf(id) ?? []),
      answers: draft.answers ?? (programme?.scope as Answers | undefined) ?? {},
      owners: { ...Object.fromEntries(roles), ...draft.owners },
      auditDate: draft.auditDate === undefined ? (programme?.auditDate ?? null) : draft.auditDate,
    };
  }, [draft, programme, frameworks, memberId]);
  const set = (next: Draft) => setDraft({ ...draft, ...next });
  return { settings, step: draft.step, set, discard };
}

/** The settings as the API takes them. */
export function bodyOf({ frameworks, answers, owners, auditDate }: Settings, questions: Question[]): PlanProgramme {
  return {
    frameworkIds: frameworks,
    scope: scopeOf(questions, answers, frameworks),
    owners: Object.fromEntries(Object.entries(owners).filter(([, member]) => member)),
    auditDate,
  };
}
