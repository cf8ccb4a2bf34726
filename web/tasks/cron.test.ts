import { describe, expect, it } from 'vitest';
import de from '../texts/de';
import en from '../texts/en';
import { cronOf, inWords, planOf } from './cron';

const said: [cron: string | null, english: string, german: string][] = [
  [null, 'Manual only', 'Nur manuell'],
  ['* * * * *', 'Every minute', 'Jede Minute'],
  ['*/15 * * * *', 'Every 15 minutes', 'Alle 15 Minuten'],
  ['0 * * * *', 'Every hour on the hour', 'Zu jeder vollen Stunde'],
  ['15 * * * *', 'Every hour, 15 minutes past', 'Stündlich, 15 Minuten nach der vollen Stunde'],
  ['0 */6 * * *', 'Every 6 hours', 'Alle 6 Stunden'],
  ['0 6 * * *', 'Every day at 06:00', 'Täglich um 06:00 Uhr'],
  ['30 6,18 * * *', 'Every day at 06:30 and 18:30', 'Täglich um 06:30 und 18:30 Uhr'],
  ['0 6 * * 1', 'Every Monday at 06:00', 'Jeden Montag um 06:00 Uhr'],
  ['0 6 * * MON', 'Every Monday at 06:00', 'Jeden Montag um 06:00 Uhr'],
  ['0 6 * * 7', 'Every Sunday at 06:00', 'Jeden Sonntag um 06:00 Uhr'],
  ['0 6 * * 1,4', 'Every Monday and Thursday at 06:00', 'Jeden Montag und Donnerstag um 06:00 Uhr'],
  ['0 6 * * 1-5', 'Monday to Friday at 06:00', 'Montag bis Freitag um 06:00 Uhr'],
  ['0 6 * * 0-6', 'Every day at 06:00', 'Täglich um 06:00 Uhr'],
  ['0 2 1 * *', 'On day 1 of the month at 02:00', 'Am 1. des Monats um 02:00 Uhr'],
  ['0 2 1,15 * *', 'On days 1 and 15 of the month at 02:00', 'Am 1. und 15. des Monats um 02:00 Uhr'],
  ['0 2 L * *', 'On the last day of the month at 02:00', 'Am letzten Tag des Monats um 02:00 Uhr'],
  ['0 2 1 1,7 *', 'On day 1 of the month at 02:00 in January and July', 'Am 1. des Monats um 02:00 Uhr im Januar und Juli'],
  [
    '*/15 8-17 * * 1-5',
    'Every 15 minutes from 08:00 to 17:59, Monday to Friday',
    'Alle 15 Minuten von 08:00 bis 17:59 Uhr, Montag bis Freitag',
  ],
  ['0 8-17 * * *', 'Every hour from 08:00 to 17:00', 'Stündlich von 08:00 bis 17:00 Uhr'],
  ['0 6 1 * 1', 'By cron: 0 6 1 * 1', 'Nach Cron: 0 6 1 * 1'],
  ['0 6 * * 1#2', 'By cron: 0 6 * * 1#2', 'Nach Cron: 0 6 * * 1#2'],
  ['61 6 * * *', 'By cron: 61 6 * * *', 'Nach Cron: 61 6 * * *'],
  ['soon', 'By cron: soon', 'Nach Cron: soon'],
];

describe('a schedule in words', () => {
  it.each(said)('%s', (cron, english, german) => {
    expect(inWords(cron, en.tasks.cron, 'en')).toBe(english);
    expect(inWords(cron, de.tasks.cron, 'de')).toBe(german);
  });
});

describe('a schedule as a plan', () => {
  it.each([
    [null, { kind: 'never' }],
    ['15 * * * *', { kind: 'hourly', minute: 15 }],
    ['5 6 * * *', { kind: 'daily', time: '06:05' }],
    ['0 6 * * 1,3', { kind: 'weekly', time: '06:00', days: [1, 3] }],
    ['0 2 31 * *', { kind: 'monthly', time: '02:00', day: 31 }],
    ['0 2 L * *', { kind: 'monthly', time: '02:00', day: 'L' }],
    ['*/5 * * * *', { kind: 'custom', cron: '*/5 * * * *' }],
    ['0 2 1 1 *', { kind: 'custom', cron: '0 2 1 1 *' }],
  ])('%s', (cron, plan) => {
    expect(planOf(cron)).toEqual(plan);
    expect(cronOf(planOf(cron))).toBe(cron);
  });
});
