import { expect, test } from 'vitest';
import { changes, decide, frameworksOf, type Settings } from './queries';

const settings = {
  overview: 'How we work.',
  friendlyUrl: null,
  contactEmail: 'a@b.example',
  frameworks: [{ framework: 'gdpr', title: 'GDPR', enabled: false, status: 'started', hasCertificate: false }],
} as unknown as Settings;

test('only what differs is a change, and an emptied text is none', () => {
  const draft = { overview: 'How we work.', friendlyUrl: '', contactEmail: '' };
  expect(changes(settings, draft, ['overview', 'friendlyUrl', 'contactEmail'])).toEqual({ contactEmail: null });
});

test('a field of another form is left alone', () => {
  expect(changes(settings, { overview: 'New', ndaText: 'Text' }, ['overview'])).toEqual({ overview: 'New' });
});

test('a decision that is taken back is no change', () => {
  const gdpr = settings.frameworks[0];
  if (!gdpr) throw new Error('there is one');
  const shown = decide(settings, {}, { ...gdpr, enabled: true });
  expect(shown.frameworks).toEqual([{ framework: 'gdpr', enabled: true, status: 'started' }]);
  expect(frameworksOf(settings, shown)[0]).toMatchObject({ title: 'GDPR', enabled: true });
  expect(changes(settings, decide(settings, shown, gdpr), ['frameworks'])).toEqual({});
});
