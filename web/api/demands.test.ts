import { expect, test } from 'vitest';
import { meet, onDemand, ssoStart } from './demands';

test('the start of single sign-on is known until the demand is met', async () => {
  let finish = () => undefined as unknown;
  onDemand(
    () =>
      new Promise((resolve) => {
        finish = () => resolve();
      }),
  );
  const met = meet({ reason: 'too_old' });
  void meet({ reason: 'too_old', startUrl: '/v1/auth/sso/idc_1/start' });
  expect(ssoStart.get()).toBe('/v1/auth/sso/idc_1/start');
  finish();
  await met;
  expect(ssoStart.get()).toBeUndefined();
  onDemand(undefined);
});
