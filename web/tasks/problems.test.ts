import { expect, it } from 'vitest';
import { scriptProblem } from './problems';

it('finds the line of a mistake', () => {
  expect(scriptProblem("is not a valid script: SyntaxError: unexpected token in expression: ';' (line 2, column 15)")).toEqual({
    line: 2,
    column: 15,
    message: "SyntaxError: unexpected token in expression: ';'",
  });
  expect(scriptProblem('must not be empty')).toBeUndefined();
});
