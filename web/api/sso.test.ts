// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { domainOf, lastStart, rememberStart, startsOf } from './sso';

test('a domain is looked up once the address is complete', () => {
  expect(domainOf(' Eve@Acme.Example ')).toBe('acme.example');
  for (const incomplete of ['', 'eve', 'eve@', 'eve@acme', 'eve@acme.', 'eve@acme.e', '@acme.example', 'e ve@acme.example'])
    expect(domainOf(incomplete), incomplete).toBeUndefined();
});

test('the connection that the server names is shown by its name', () => {
  const acme = { name: 'Acme', startUrl: '/v1/auth/sso/idc_1/start' };
  const other = { name: 'Other', startUrl: '/v1/auth/sso/idc_2/start' };
  expect(startsOf(acme.startUrl, [other], acme)).toEqual([acme]);
  expect(startsOf(acme.startUrl, [])).toEqual([{ ...acme, name: '' }]);
  expect(startsOf(undefined, [other], acme)).toEqual([other]);
});

test('only a path of single sign-on is remembered as one', () => {
  const acme = { name: 'Acme', startUrl: '/v1/auth/sso/idc_1/start' };
  rememberStart(acme);
  expect(lastStart()).toEqual(acme);
  for (const stored of ['{}', 'nonsense', '{"name":"x","startUrl":"javascript:alert(1)"}', '{"name":"x","startUrl":1}']) {
    localStorage.setItem('attestry.sso', stored);
    expect(lastStart(), stored).toBeUndefined();
  }
});
