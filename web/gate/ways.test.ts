import { expect, test } from 'vitest';
import { waysOf } from './ways';

const acme = { name: 'Acme', startUrl: '/v1/auth/sso/idc_1/start' };
const other = { name: 'Other', startUrl: '/v1/auth/sso/idc_2/start' };
const nothing = { offer: undefined, last: undefined, isOtherWay: false };

test('without single sign-on there is the password alone', () => {
  expect(waysOf(nothing)).toEqual({ sso: undefined, isFirst: false, isOnly: false });
  expect(waysOf({ ...nothing, offer: null })).toEqual({ sso: undefined, isFirst: false, isOnly: false });
});

test('an offer stands beside the password, and replaces it where it is required', () => {
  expect(waysOf({ ...nothing, offer: { ...acme, isRequired: false } })).toMatchObject({
    sso: acme,
    isFirst: false,
    isOnly: false,
  });
  expect(waysOf({ ...nothing, offer: { ...acme, isRequired: true } })).toMatchObject({ sso: acme, isOnly: true });
});

test('exempt owners reach their password', () => {
  expect(waysOf({ offer: { ...acme, isRequired: true }, last: undefined, isOtherWay: true })).toMatchObject({
    sso: acme,
    isOnly: false,
  });
});

test('the last connection comes first until the address leads to another one', () => {
  expect(waysOf({ ...nothing, last: acme })).toEqual({ sso: acme, isFirst: true, isOnly: false });
  expect(waysOf({ ...nothing, last: acme, offer: { ...acme, isRequired: true } })).toMatchObject({ isFirst: true, isOnly: true });
  expect(waysOf({ ...nothing, last: acme, offer: { ...other, isRequired: false } })).toMatchObject({
    sso: { name: 'Other' },
    isFirst: false,
  });
  expect(waysOf({ ...nothing, last: acme, offer: null })).toEqual({ sso: undefined, isFirst: false, isOnly: false });
});
