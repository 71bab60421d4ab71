import type { IncomingMessage } from 'node:http';
import type { Writable } from 'node:stream';

/**
 * Guards the `map` of an upload request, which says where in `operations` the files belong. The parser follows its
 * paths through inherited members too: `hasOwnProperty.call` would put a file into a function of the whole process. So
 * paths are checked before the parser sees them.
 */

const REFUSAL = "a path in the multipart field 'map' leads out of the 'operations'";

/** Fails the parser of this request, with status 400, at a map that leads out of the operations. */
export function guardUploadMap(request: IncomingMessage): void {
  const pipe = request.pipe.bind(request);
  request.pipe = (parser, options) => {
    watchFields(parser as unknown as Writable);
    return pipe(parser, options);
  };
}

/** Checks each field before the parser's own listener. */
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

/** Invalid JSON has no paths; the parser reports it. */
function readJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

function staysInside(operations: unknown, map: unknown): boolean {
  if (!isObjectOrList(map)) return true;
  const paths = Object.values(map).flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
  return paths.every((path) => typeof path !== 'string' || leadsInto(operations, path.split('.')));
}

/** Every step must be an own member of the value; the last may be new, but must not hide an inherited one. */
function leadsInto(operations: unknown, steps: readonly string[]): boolean {
  let place = operations;
  for (const [index, step] of steps.entries()) {
    if (!isObjectOrList(place)) return false;
    if (!Object.hasOwn(place, step)) return index === steps.length - 1 && !(step in place);
    place = place[step];
  }
  return true;
}

function isObjectOrList(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
