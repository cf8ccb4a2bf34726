/** The text file of recovery codes. */
export const fileOf = (head: string, codes: string[]) => `${head}\n\n${codes.join('\n')}\n`;

/** A secret in groups of four, as it is easier to type. */
export const grouped = (secret: string) => secret.match(/.{1,4}/g)?.join(' ') ?? '';
