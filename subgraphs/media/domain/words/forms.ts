/**
 * Texts of a known form, such as `next try in {#seconds} s`: what writes them is checked against the form by its type,
 * and what reads them is made of the same form. `{name}` is any text, `{#name}` a whole number. Pure.
 */

/** Each code with its forms; where several fit, the first one counts. */
export type Forms = Readonly<Record<string, readonly string[]>>;

/** A form with values in it. */
export type Filled<Form extends string> = Form extends `${infer Before}{${infer Name}}${infer After}`
  ? `${Before}${Name extends `#${string}` ? number : string}${Filled<After>}`
  : Form;

/** A text that was read: its code, and the values that its form names. */
export interface Reading<Code extends string> {
  readonly code: Code;
  readonly values: Readonly<Record<string, string>>;
}

/** Makes the reader of texts in these forms; it gives null for any other text. */
export function createReader<List extends Forms>(
  forms: List,
): (text: string) => Reading<keyof List & string> | null {
  const patterns = Object.entries(forms).flatMap(([code, list]) =>
    list.map((form) => ({ code, pattern: toPattern(form) })),
  );
  return (text) => {
    for (const { code, pattern } of patterns) {
      const found = pattern.exec(text);
      if (found !== null) return { code, values: found.groups ?? {} };
    }
    return null;
  };
}

/** A value as a number; null where the form has none. */
export function toNumber(value: string | undefined): number | null {
  return value === undefined ? null : Number(value);
}

function toPattern(form: string): RegExp {
  const source = form
    .split(/\{(#?\w+)\}/)
    .map((part, index) => (index % 2 === 0 ? literal(part) : formatGroup(part)))
    .join('');
  return new RegExp(`^${source}$`, 's');
}

function literal(text: string): string {
  return text.replaceAll(/[$()*+./?[\\\]^{|}]/g, String.raw`\$&`);
}

/** Nine digits at most: the API has numbers of 32 bits. */
function formatGroup(name: string): string {
  return name.startsWith('#') ? `(?<${name.slice(1)}>\\d{1,9})` : `(?<${name}>.+?)`;
}
