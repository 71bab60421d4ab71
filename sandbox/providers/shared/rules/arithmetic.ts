const TOKENS = /\d+(?:\.\d+)?|[-+*/()^]/g;
const QUESTION = /\b(?:what is|what's|calculate|compute|equals?|please)\b|多少|等于|计算|是|[?=？]/gi;
/** Longest arithmetic question; also bounds the depth of brackets. */
const MAX_LENGTH = 200;

/** The value of an arithmetic question ("what is (2+3)*4?"); null when the text is something else. */
export function calculate(text: string): number | null {
  if (text.length > MAX_LENGTH) return null;
  const sum = text.replaceAll(QUESTION, ' ').replaceAll('×', '*').replaceAll('÷', '/').trim();
  if (!/^[\d\s.+\-*/()^]+$/.test(sum)) return null;
  const tokens = sum.match(TOKENS) ?? [];
  if (tokens.length < 3) return null;
  const reader: Reader = { tokens, at: 0 };
  const value = readSum(reader);
  return reader.at === tokens.length && Number.isFinite(value) ? value : null;
}

interface Reader {
  readonly tokens: readonly string[];
  at: number;
}

/** Takes the next token when it is one of these. */
function take(reader: Reader, ...signs: readonly string[]): string | null {
  const token = reader.tokens[reader.at];
  if (token === undefined || !signs.includes(token)) return null;
  reader.at += 1;
  return token;
}

function readSum(reader: Reader): number {
  let value = readProduct(reader);
  for (let sign = take(reader, '+', '-'); sign !== null; sign = take(reader, '+', '-')) {
    const next = readProduct(reader);
    value = sign === '+' ? value + next : value - next;
  }
  return value;
}

function readProduct(reader: Reader): number {
  let value = readPower(reader);
  for (let sign = take(reader, '*', '/'); sign !== null; sign = take(reader, '*', '/')) {
    const next = readPower(reader);
    value = sign === '*' ? value * next : value / next;
  }
  return value;
}

function readPower(reader: Reader): number {
  const base = readNumber(reader);
  return take(reader, '^') === null ? base : base ** readPower(reader);
}

/** NaN when a number is missing, which makes the whole invalid. */
function readNumber(reader: Reader): number {
  if (take(reader, '-') !== null) return -readNumber(reader);
  if (take(reader, '(') !== null) {
    const value = readSum(reader);
    return take(reader, ')') === null ? Number.NaN : value;
  }
  const token = reader.tokens[reader.at];
  reader.at += 1;
  return token === undefined ? Number.NaN : Number(token);
}
