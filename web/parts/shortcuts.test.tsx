// @vitest-environment jsdom
import { expect, test, vi } from 'vitest';
import { useShortcuts } from './shortcuts';
import { draw } from './testing/render';

function Keys({ keys, isEverywhere }: { keys: Record<string, () => unknown>; isEverywhere?: boolean }) {
  useShortcuts(keys, { isEverywhere });
  return null;
}

test('a key of the page comes before the same key that works everywhere', async () => {
  const palette = vi.fn();
  const search = vi.fn();
  const { user } = draw(
    <>
      <Keys keys={{ '/': palette }} isEverywhere />
      <Keys keys={{ '/': search }} />
    </>,
  );
  await user.keyboard('/');
  expect(search).toHaveBeenCalledTimes(1);
  expect(palette).not.toHaveBeenCalled();
});
