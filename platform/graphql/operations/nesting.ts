/** How deep texts and values nest, found without recursion: parsers and walkers of what nests too deep overflow. */

/** Deepest nesting of brackets in a document, and of lists and objects in its variables. */
export const MAX_NESTING = 64;

/** Strings, block strings and comments, in which brackets mean nothing; then the brackets. */
const TOKENS = /"""(?:[^"\\]|\\"""|\\|"(?!""))*(?:"""|$)|"(?:[^"\\\n]|\\.)*"?|#[^\n\r]*|[[{(]|[\]})]/g;

/** The deepest nesting of brackets in a GraphQL text. */
export function nestingOfText(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of text.matchAll(TOKENS)) {
    if (token.length > 1) continue;
    if ('[{('.includes(token)) deepest = Math.max(deepest, (depth += 1));
    else if (']})'.includes(token)) depth -= 1;
  }
  return deepest;
}

/** Whether lists and objects of a value nest deeper than `max`. */
export function nestsDeeperThan(value: unknown, max: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    const inner = level.filter((item) => typeof item === 'object' && item !== null && isPlain(item));
    if (inner.length > 0 && depth === max) return true;
    level = inner.flatMap((item) => Object.values(item as object) as unknown[]);
  }
  return false;
}

/** Lists and objects of JSON; uploads are neither. */
function isPlain(value: object): boolean {
  return Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value) as null);
}
