/**
 * The offset at which a text stops being JSON, for 422 bodies: the messages of JSON.parse have a position for some mistakes
 * only. One pass, without recursion; runs only after JSON.parse has failed.
 */
export function invalidJsonOffset(text: string): number {
  const open: ('{' | '[')[] = [];
  let expected: Expectation = 'value';
  let offset = 0;
  while (offset < text.length) {
    const token = tokenAt(text, offset);
    if (token === null) return offset;
    offset += token.length;
    if (token.trim() === '') continue;
    const next = after(token, expected, open);
    if (next === null) return offset - token.length;
    expected = next;
  }
  return text.length;
}

/** What may come next. `first...` also allow the closing bracket. */
type Expectation = 'value' | 'firstValue' | 'key' | 'firstKey' | 'colon' | 'separator' | 'nothing';

const tokenPattern =
  // oxlint-disable-next-line no-control-regex -- JSON strings may not hold control characters
  /[ \t\n\r]+|[{}[\],:]|true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

function tokenAt(text: string, offset: number): string | null {
  tokenPattern.lastIndex = offset;
  return tokenPattern.exec(text)?.[0] ?? null;
}

/** The next expectation, or null when the token is not allowed here. */
function after(token: string, expected: Expectation, open: ('{' | '[')[]): Expectation | null {
  const settled = (): Expectation => (open.length === 0 ? 'nothing' : 'separator');
  if (token === '}' || token === ']') {
    const fits = expected === 'separator' || expected === (token === '}' ? 'firstKey' : 'firstValue');
    if (!fits || open.pop() !== (token === '}' ? '{' : '[')) return null;
    return settled();
  }
  if (expected === 'separator') return token === ',' ? (open.at(-1) === '{' ? 'key' : 'value') : null;
  if (expected === 'colon') return token === ':' ? 'value' : null;
  if (expected === 'key' || expected === 'firstKey') return token.startsWith('"') ? 'colon' : null;
  if (expected === 'nothing' || token === ',' || token === ':') return null;
  if (token !== '{' && token !== '[') return settled();
  open.push(token);
  return token === '{' ? 'firstKey' : 'firstValue';
}
