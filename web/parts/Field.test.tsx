// @vitest-environment jsdom
import { screen, waitFor } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { Problem } from '../api/problem';
import { Field } from './Field';
import { draw } from './testing/render';

const field = (onSave?: (value: unknown, seen?: unknown) => Promise<unknown>, record = 'rsk_1') => (
  <dl>
    <Field name="title" label="Title" kind="text" value="Laptop stolen" record={record} onSave={onSave}>
      Laptop stolen
    </Field>
  </dl>
);

test('a value turns into its input and is saved by Enter, with what was seen', async () => {
  const save = vi.fn(async () => undefined);
  const { user } = draw(field(save));
  await user.click(screen.getByRole('button', { name: /Title: Laptop stolen/ }));
  const box = screen.getByRole('textbox', { name: 'Title' });
  await user.clear(box);
  await user.type(box, 'Laptop lost{Enter}');
  expect(save).toHaveBeenCalledWith('Laptop lost', 'Laptop stolen');
});

test('what was typed stays a draft over Escape, and can be discarded', async () => {
  const save = vi.fn(async () => undefined);
  const { user } = draw(field(save));
  await user.click(screen.getByRole('button', { name: /Title/ }));
  await user.type(screen.getByRole('textbox'), ' twice{Escape}');
  expect(save).not.toHaveBeenCalled();
  await user.click(screen.getByRole('button', { name: /Title/ }));
  expect(screen.getByRole<HTMLInputElement>('textbox').value).toBe('Laptop stolen twice');
  await user.keyboard('{Escape}');
  await user.click(screen.getByRole('button', { name: /iscard/ }));
  expect(screen.queryByRole('status')).toBeNull();
});

test('a refusal is told at the field, and what was typed stays in it', async () => {
  const refuse = async () => {
    throw new Problem(400, 'validation_failed', 'No.', [{ field: 'title', message: 'must not be empty' }]);
  };
  const { user } = draw(field(refuse));
  await user.click(screen.getByRole('button', { name: /Title/ }));
  await user.clear(screen.getByRole('textbox'));
  await user.keyboard('{Enter}');
  await waitFor(() => expect(screen.getByText('Must not be empty')).toBeTruthy());
  expect(screen.getByRole('textbox')).toBeTruthy();
});

test('without a way to save it is only read', () => {
  draw(field());
  expect(screen.queryByRole('button')).toBeNull();
  expect(screen.getByText('Laptop stolen')).toBeTruthy();
});

test('a default that is shown as not set is saved against the stored default', async () => {
  const save = vi.fn(async () => undefined);
  const choices = [
    { value: 'unlikely', label: 'Unlikely' },
    { value: 'possible', label: 'Possible' },
  ];
  const { user } = draw(
    <dl>
      <Field
        name="residualLikelihood"
        label="Residual chance"
        kind="choice"
        value={null}
        stored="possible"
        choices={choices}
        onSave={save}
      >
        Not set
      </Field>
    </dl>,
  );
  await user.click(screen.getByRole('button', { name: /Residual chance: Not set/ }));
  await user.click(await screen.findByRole('option', { name: 'Possible' }));
  expect(save).toHaveBeenCalledWith('possible', 'possible');
});
