import { sign, verify, type KeyObject } from 'node:crypto';

/** Alipay's RSA2: RSA with SHA-256 over the raw text, not over reserialized JSON. Pure. */

/** Adds `sign` to the parameters of a request: over `name=value&...` sorted by name, unescaped. */
export function signedParameters(
  parameters: Readonly<Record<string, string>>,
  key: KeyObject,
): Readonly<Record<string, string>> {
  const text = Object.keys(parameters)
    .toSorted()
    .map((name) => `${name}=${parameters[name] ?? ''}`)
    .join('&');
  return { ...parameters, sign: sign('sha256', Buffer.from(text), key).toString('base64') };
}

/** The raw text of the answer's node of this name, if its signature is valid. */
export function signedNode(
  answer: { readonly text: string; readonly node: string; readonly signature: string },
  key: KeyObject,
): string | null {
  const signed = nodeText(answer.text, answer.node);
  if (signed === null) return null;
  const isSigned = verify('sha256', Buffer.from(signed), key, Buffer.from(answer.signature, 'base64'));
  return isSigned ? signed : null;
}

/**
 * The raw text of a top-level member of that name, which must be an object; null when there is none, or more than one. The
 * text must be valid JSON.
 */
export function nodeText(text: string, name: string): string | null {
  const found: string[] = [];
  let depth = 0;
  let start = -1;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      const isName = depth === 1 && text.slice(at, end + 1) === `"${name}"`;
      const value = isName ? /^\s*:\s*\{/.exec(text.slice(end + 1, end + 100)) : null;
      if (value !== null) start = end + value[0].length;
      at = end;
    } else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth === 1 && start >= 0) {
        found.push(text.slice(start, at + 1));
        start = -1;
      }
    }
  }
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** Index of a string's closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
