import type { ReactNode } from 'react';

/** A problem, shown beside the act that it is about and read out when it appears. */
export function ProblemText({ children }: { children: ReactNode }) {
  if (!children) return null;
  return (
    <p role="alert" className="problem">
      {children}
    </p>
  );
}
