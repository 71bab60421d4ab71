import { isPair, isScalar, LineCounter, parseDocument } from 'yaml';

import type { Json } from '../json.ts';
import { JsonSyntaxError, type JsonWithLines } from './json-with-lines.ts';

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
    lineOf(path) {
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
