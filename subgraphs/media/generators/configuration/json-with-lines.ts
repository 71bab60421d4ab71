import type { Json } from '../../../../platform/json.ts';

/** JSON that people write by hand: what it means, and on which line each part of it stands. */
export interface JsonWithLines {
  readonly value: Json;
  /** Line (from 1) of the part at this path; of its nearest parent where there is no such part. */
  readonly lineOf: (path: readonly (string | number)[]) => number;
  /** Paths of names that come twice in one object: the second one would silently win. */
  readonly repeated: readonly (readonly (string | number)[])[];
}

/** The text is no JSON. The message is the remedy. */
export class JsonMistake extends Error {
  override readonly name = 'JsonMistake';
  /** From 1. */
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** Deepest nesting that is read. */
const MAX_DEPTH = 64;
const TOKEN =
  /[{}[\],:]|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y; // oxlint-disable-line no-control-regex -- JSON forbids them in texts

/** Reads a whole text. Throws JsonMistake at the first thing that is no JSON. */
export function parseWithLines(text: string): JsonWithLines {
  const reader = createReader(text);
  const lines = new Map<string, number>();
  const repeated: (readonly (string | number)[])[] = [];
  const value = readValue({ reader, lines, repeated }, []);
  if (reader.peek() !== null) throw reader.mistake('must end after the closing brace: remove what follows');
  return {
    value,
    repeated,
    lineOf(path) {
      for (let length = path.length; length > 0; length -= 1) {
        const line = lines.get(JSON.stringify(path.slice(0, length)));
        if (line !== undefined) return line;
      }
      return lines.get('[]') ?? 1;
    },
  };
}

interface Reading {
  readonly reader: Reader;
  readonly lines: Map<string, number>;
  readonly repeated: (readonly (string | number)[])[];
}

interface Reader {
  /** The next token; null at the end. */
  peek(): string | null;
  take(): string | null;
  /** Line of the next token. */
  line(): number;
  mistake(message: string): JsonMistake;
}

function createReader(text: string): Reader {
  let offset = 0;
  let line = 1;
  function skipBlanks(): void {
    for (; offset < text.length && ' \t\r\n'.includes(text.charAt(offset)); offset += 1) {
      if (text.charAt(offset) === '\n') line += 1;
    }
  }
  function peek(): string | null {
    skipBlanks();
    if (offset >= text.length) return null;
    TOKEN.lastIndex = offset;
    const token = TOKEN.exec(text)?.[0];
    if (token !== undefined) return token;
    const isComment = text.startsWith('//', offset) || text.startsWith('/*', offset);
    const found = JSON.stringify(text.slice(offset, offset + 12).split('\n')[0]);
    throw new JsonMistake(
      line,
      isComment
        ? 'has a comment: JSON has none, remove it'
        : `has ${found}, which is no JSON: texts and names stand in double quotes`,
    );
  }
  return {
    peek,
    take() {
      const token = peek();
      offset += token?.length ?? 0;
      return token;
    },
    line() {
      skipBlanks();
      return line;
    },
    mistake: (message) => new JsonMistake(line, message),
  };
}

function readValue(reading: Reading, path: readonly (string | number)[]): Json {
  const { reader, lines } = reading;
  const place = JSON.stringify(path);
  if (!lines.has(place)) lines.set(place, reader.line());
  if (path.length > MAX_DEPTH) throw reader.mistake('is nested too deeply');
  const token = reader.take();
  if (token === '{') return readObject(reading, path);
  if (token === '[') return readList(reading, path);
  if (token === null) throw reader.mistake('ends too early: something is not closed');
  if ('}],:'.includes(token)) throw reader.mistake(`has "${token}" where a value belongs`);
  return JSON.parse(token) as Json;
}

function readObject(reading: Reading, path: readonly (string | number)[]): Json {
  const { reader, lines, repeated } = reading;
  const entries = new Map<string, Json>();
  while (reader.peek() !== '}' || entries.size > 0) {
    const line = reader.line();
    const token = reader.take();
    if (token === null || !token.startsWith('"')) throw reader.mistake('needs a name in double quotes here');
    const name = JSON.parse(token) as string;
    const own = [...path, name];
    if (entries.has(name)) repeated.push(own);
    lines.set(JSON.stringify(own), line);
    if (reader.take() !== ':') throw reader.mistake(`needs a colon after "${name}"`);
    entries.set(name, readValue(reading, own));
    if (endsAt(reader, '}')) return Object.fromEntries(entries);
  }
  reader.take();
  return {};
}

function readList(reading: Reading, path: readonly (string | number)[]): Json {
  const { reader } = reading;
  const items: Json[] = [];
  while (reader.peek() !== ']' || items.length > 0) {
    items.push(readValue(reading, [...path, items.length]));
    if (endsAt(reader, ']')) return items;
  }
  reader.take();
  return items;
}

/** Whether the object or list ends here; a comma means that more follows. */
function endsAt(reader: Reader, close: string): boolean {
  const token = reader.take();
  if (token === close) return true;
  if (token === null) throw reader.mistake(`ends too early: "${close}" is missing`);
  if (token !== ',') throw reader.mistake(`needs a comma or "${close}" before ${token}`);
  if (reader.peek() === close) throw reader.mistake(`has a comma too many before "${close}"`);
  return false;
}
