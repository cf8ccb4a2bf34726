import { expect, test } from 'vitest';
import { pathOf } from './QrCode';

test('each run of dark modules is one rectangle, behind the quiet zone', () => {
  expect(pathOf(['110', '001', '000'])).toBe('M4 4h2v1h-2zM6 5h1v1h-1z');
});
