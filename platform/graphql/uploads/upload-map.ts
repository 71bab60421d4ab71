import type { IncomingMessage } from 'node:http';
import type { Writable } from 'node:stream';

/**
 * The `map` of an upload request says where in `operations` the files belong. The parser walks its paths as they come,
 * through inherited members too: `hasOwnProperty.call` would put a file into a function that the whole process uses. So
 * paths are looked at before the parser sees them.
 */

const REFUSAL = "a path in the multipart field 'map' leads out of the 'operations'";

/** Makes whatever this request is piped into fail, with status 400, at a map that leads out of the operations. */
export function guardUploadMap(request: IncomingMessage): void {
  const pipe = request.pipe.bind(request);
  request.pipe = (parser, options) => {
    watchFields(parser as unknown as Writable);
    return pipe(parser, options);
  };
}

/** Sees each field before the parser's own listener does. */
function watchFields(parser: Writable): void {
  const emit = parser.emit.bind(parser);
  let operations: unknown;
  parser.emit = (event: string | symbol, ...args: unknown[]): boolean => {
    if (event === 'field') {
      const [name, value] = args;
      if (name === 'operations') operations = readJson(value);
      if (name === 'map' && !staysInside(operations, readJson(value))) {
        parser.destroy(Object.assign(new Error(REFUSAL), { status: 400 }));
        return true;
      }
    }
    return emit(event, ...args);
  };
}

/** What is no JSON has no paths; the parser says what is wrong with it. */
function readJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

function staysInside(operations: unknown, map: unknown): boolean {
  if (!isObject(map)) return true;
  const paths = Object.values(map).flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
  return paths.every((path) => typeof path !== 'string' || leadsInto(operations, path.split('.')));
}

/** Every step is a member of the value itself; the last may be new, but hide nothing inherited. */
function leadsInto(operations: unknown, steps: readonly string[]): boolean {
  let place = operations;
  for (const [index, step] of steps.entries()) {
    if (!isObject(place)) return false;
    if (!Object.hasOwn(place, step)) return index === steps.length - 1 && !(step in place);
    place = place[step];
  }
  return true;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
