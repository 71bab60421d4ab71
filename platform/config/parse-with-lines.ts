import {
  createScanner,
  findNodeAtLocation,
  getNodeValue,
  parseTree,
  type Node,
  type ParseError,
} from 'jsonc-parser';
import { isPair, isScalar, LineCounter, parseDocument } from 'yaml';

import type { Json } from '../json.ts';

type Path = readonly (string | number)[];

/** JSON that people write by hand (comments are allowed): what it means, and on which line each part of it stands. */
export interface JsonWithLines {
  readonly value: Json;
  /** Line (from 1) of the part at this path; of its nearest parent where there is no such part. */
  readonly findLine: (path: Path) => number;
  /** Paths of names that come twice in one object: the second one would silently win. */
  readonly repeated: readonly Path[];
}

/** The text is no JSON. The message is the remedy. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
  /** From 1. */
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** Deepest nesting that is read: the parser calls itself for each level. */
const MAX_DEPTH = 64;

/** Reads a whole text. Throws JsonSyntaxError at the first thing that is no JSON. */
export function parseWithLines(text: string): JsonWithLines {
  refuseDepth(text);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors);
  const [error] = errors;
  if (error !== undefined || root === undefined) {
    const { offset } = error ?? { offset: text.length };
    throw new JsonSyntaxError(lineAt(text, offset), formatMessage(text, error));
  }
  return {
    value: getNodeValue(root) as Json,
    repeated: repeatedIn(root, []),
    findLine(path) {
      let node: Node | undefined;
      for (let length = path.length; node === undefined; length -= 1) {
        node = findNodeAtLocation(root, path.slice(0, length));
      }
      const { offset } = node.parent?.type === 'property' ? node.parent : node;
      return lineAt(text, offset);
    },
  };
}

function refuseDepth(text: string): void {
  const scanner = createScanner(text);
  let depth = 0;
  while (scanner.getPosition() < text.length) {
    scanner.scan();
    const sign = text.charAt(scanner.getTokenOffset());
    depth += sign === '{' || sign === '[' ? 1 : sign === '}' || sign === ']' ? -1 : 0;
    if (depth > MAX_DEPTH) {
      throw new JsonSyntaxError(lineAt(text, scanner.getTokenOffset()), 'is nested too deeply');
    }
  }
}

function repeatedIn(node: Node, path: Path): readonly Path[] {
  const children = node.children ?? [];
  if (node.type === 'array') return children.flatMap((item, index) => repeatedIn(item, [...path, index]));
  const seen = new Set<string>();
  return children.flatMap(({ children: [key, value] = [] }) => {
    const name = String(key?.value);
    const own = [...path, name];
    const isRepeated = seen.has(name);
    seen.add(name);
    return [...(isRepeated ? [own] : []), ...(value === undefined ? [] : repeatedIn(value, own))];
  });
}

/** What to do about a mistake; the codes are those of the parser (ParseErrorCode). */
const REMEDIES: Readonly<Record<number, string>> = {
  5: 'needs a colon after a name',
  6: 'needs a comma or "]" or "}" here',
  9: 'must end after the closing brace: remove what follows',
};

function formatMessage(text: string, error: ParseError | undefined): string {
  const found = error === undefined ? '' : text.slice(error.offset, error.offset + 12).split('\n')[0];
  if (found === '' || found === undefined) return 'ends too early: something is not closed';
  const remedy = REMEDIES[error?.error ?? 0];
  if (remedy !== undefined) return remedy;
  if (/^[}\]]/.test(found)) return `has a comma too many before "${found.charAt(0)}"`;
  return `has ${JSON.stringify(found)}, which is no JSON: texts and names stand in double quotes`;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** Most references to other parts that a text may make (`*name`), so that a small text is no large value. */
const MAX_ALIASES = 100;

/** Reads YAML 1.2, of which JSON is a part. Throws JsonSyntaxError at the first thing that is neither; names that come twice are such. */
export function parseYamlWithLines(text: string): JsonWithLines {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    throw new JsonSyntaxError(lines.linePos(error.pos[0]).line, `is no YAML: ${error.message}`);
  }
  return {
    value: document.toJS({ maxAliasCount: MAX_ALIASES }) as Json,
    repeated: [],
    findLine(path) {
      for (let length = path.length; length > 0; length -= 1) {
        const found = findOffset(document.getIn(path.slice(0, length - 1), true), path[length - 1]);
        if (found !== undefined) return lines.linePos(found).line;
      }
      return 1;
    },
  };
}

/** Where a member or element begins. */
function findOffset(parent: unknown, key: string | number | undefined): number | undefined {
  const items = Object(parent) as { readonly items?: readonly unknown[] };
  if (typeof key === 'number') return readStart(items.items?.[key]);
  const pair = items.items?.find((item) => isPair(item) && isScalar(item.key) && item.key.value === key);
  return isPair(pair) ? readStart(pair.key) : undefined;
}

function readStart(node: unknown): number | undefined {
  const { range } = Object(node) as { readonly range?: readonly number[] | null };
  return range?.[0];
}
