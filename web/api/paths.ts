import { api } from './client';
import { Problem } from './problem';
import type { paths } from './schema';

export type Path = keyof paths;
type Method = 'get' | 'post' | 'patch' | 'delete';
type Json<R> = R extends { content: { 'application/json': infer Body } } ? Body : never;
type Good<Responses> = Json<Responses extends { 201: infer R } ? R : Responses extends { 200: infer R } ? R : never>;

/** The body of a path's answer. */
export type Answer<P extends Path, M extends Method = 'get'> =
  paths[P] extends Record<M, { responses: infer R }> ? Good<R> : never;

/** What a path takes behind the question mark. */
export type Query<P extends Path> = paths[P] extends { get: { parameters: { query?: infer Q } } } ? NonNullable<Q> : never;

type Init = { path?: Record<string, string>; query?: object; body?: object; headers?: Record<string, string> };
type Request = (method: Method, path: string, init: object) => Promise<{ data?: unknown; response: Response }>;

/**
 * Calls a path that is one of several alike: the lists, the records. The types of one known path are checked by the
 * client itself; here the path is a parameter, and the answer is typed by it.
 */
export async function call<P extends Path, M extends Method = 'get'>(
  method: M,
  path: P,
  { path: names, query, ...init }: Init = {},
) {
  const request = api.request as unknown as Request;
  const { data, response } = await request(method, path, { ...init, params: { path: names, query } });
  if (data === undefined && response.status !== 204) throw Problem.unreachable();
  return { data: data as Answer<P, M>, version: response.headers.get('ETag') };
}
