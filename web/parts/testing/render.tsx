import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { render } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ReactNode } from 'react';
import { vi } from 'vitest';
import { queries } from '../../api/query';
import { type Session, sessionQuery } from '../../api/session';
import { theme } from '../../look/theme';

const ORGANIZATION = 'org_01jcqg3v5mefzr7d0a6w3k9x2b';

/** Draws a component as somebody with these permissions sees it. */
export function draw(what: ReactNode, permissions: string[] = []) {
  const session = {
    user: { id: 'usr_1', name: 'Ada Byron', email: 'ada@example.com' },
    organizations: [{ id: ORGANIZATION, name: 'Engines', memberId: 'mem_1', role: 'admin', permissions }],
  } as unknown as Session;
  queries.setQueryData(sessionQuery.queryKey, session);
  const user = userEvent.setup();
  const drawn = render(
    <MantineProvider theme={theme} env="test">
      <QueryClientProvider client={queries}>
        <main id="main">{what}</main>
      </QueryClientProvider>
    </MantineProvider>,
  );
  return { user, ...drawn };
}

type Asked = { method: string; path: string; body: string };

/** Answers requests as the server would, and tells what was asked. */
export function answer(paths: Record<string, (asked: Asked) => { status?: number; body: unknown }>): Asked[] {
  const asked: Asked[] = [];
  vi.stubGlobal('fetch', async (input: RequestInfo | URL, options?: RequestInit) => {
    const request = new Request(new URL(input instanceof Request ? input.url : String(input), 'http://localhost'), {
      ...(input instanceof Request ? { method: input.method } : {}),
      ...options,
    });
    const url = new URL(request.url);
    const body = input instanceof Request ? await input.text() : await request.text();
    const one = { method: request.method, path: `${url.pathname}${url.search}`, body };
    asked.push(one);
    const found = paths[url.pathname]?.(one) ?? { status: 404, body: { status: 404, code: 'not_found', detail: 'Not there.' } };
    return new Response(JSON.stringify(found.body), {
      status: found.status ?? 200,
      headers: { 'Content-Type': found.status ? 'application/problem+json' : 'application/json' },
    });
  });
  return asked;
}
