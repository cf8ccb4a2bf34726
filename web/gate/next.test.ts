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
