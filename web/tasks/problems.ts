/** Where a script is wrong. */
export type ScriptProblem = { line: number; column: number; message: string };

/** The line and the column are in the words of the server: "unexpected token: ';' (line 2, column 15)". */
export function scriptProblem(message: string): ScriptProblem | undefined {
  const found = /^(.*?)\s*\(line (\d+), column (\d+)\)/s.exec(message);
  if (!found) return undefined;
  const [, text = '', line, column] = found;
  return { line: Number(line), column: Number(column), message: text.replace(/^is not a valid script: /, '') };
}
