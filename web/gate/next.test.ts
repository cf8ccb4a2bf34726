import { expect, test } from 'vitest';
import { nextPage } from './next';

const origin = 'https://compliance.example.com';

test('a sign-in leads to a page of this console', () => {
  expect(nextPage('/risks?q=laptop#top', origin)).toBe('/risks?q=laptop#top');
  expect(nextPage(`${origin}/tasks`, origin)).toBe('/tasks');
  expect(nextPage(undefined, origin)).toBe('/');
});

test('and nowhere else', () => {
  for (const next of [
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '\t//evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    `${origin}.evil.example/`,
    `${origin}@evil.example/`,
    'http://compliance.example.com/',
    'http://[',
  ])
    expect(nextPage(next, origin), next).toBe('/');
});

test('a path of this console never names a host', () => {
  const paths = {
    '/./\u200b/x': '/%E2%80%8B/x',
    '/.//x': '/x',
    '/..//x': '/x',
    '/.\\/x': '/x',
    '/././/\\x': '/x',
    '/a/../..//x?q#top': '/x?q#top',
    '/\t/x': '/',
    '//x': '/',
    '/\\x': '/',
    'https:x': '/x',
    '/%2f%2fx': '/%2f%2fx',
    [`${origin}//x`]: '/x',
    [`${origin}/\\x`]: '/x',
    [`blob:${origin}//x`]: `/${origin}//x`,
  };
  for (const [next, page] of Object.entries(paths)) {
    expect(nextPage(next, origin), next).toBe(page);
    expect(new URL(page, origin).origin, next).toBe(origin);
  }
});
