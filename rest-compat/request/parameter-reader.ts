import type { Problem } from '../replies/envelopes.ts';
import { listNames, type Param, type Params } from '../route/param.ts';
import type { Route } from '../route/route.ts';
import type { FormBody } from './body/form.ts';

/** Reads the parameters of one request, source by source, and collects every problem with them. */
export type ParameterReader = ReturnType<typeof createParameterReader>;

/** Values by the names that were sent, of which one parameter has several. */
interface NamedValues {
  readonly names: readonly string[];
  readonly raws: ReadonlyMap<string, unknown>;
  /** Turns raw values first, to undefined when it can't. */
  readonly decode?: (raw: unknown) => unknown;
}

/** A reader for one request of a route. */
export function createParameterReader(route: Route) {
  const problems: Problem[] = [];
  const notes: string[] = [];
  const conflicts: string[] = [];
  const sent = new Set<string>();
  const values = new Map<string, unknown>();
  const add = (name: string, param: Param<unknown>, raw: unknown): void => {
    const reading = param.read(raw);
    if ('problem' in reading) {
      problems.push({ loc: [findLocation(param), name], ...reading.problem });
      return;
    }
    sent.add(name);
    values.set(name, normalized(name, param, reading.value, notes));
  };
  const absent = (name: string, param: Param<unknown>, received: Iterable<string>): void => {
    if (param.required) problems.push(missing([findLocation(param), name], received));
    else values.set(name, param.fallback);
  };
  const addOneOf = (
    name: string,
    param: Param<unknown>,
    { names, raws, decode = (raw) => raw }: NamedValues,
  ): void => {
    const [key, ...others] = names.filter((candidate) => raws.has(candidate));
    if (key === undefined) return absent(name, param, raws.keys());
    const other = others.find((candidate) => raws.get(candidate) !== raws.get(key));
    if (other !== undefined) conflicts.push(`${key} and ${other} are the same and differ: send one of them`);
    add(name, param, decode(raws.get(key)));
  };
  return {
    problems,
    notes,
    /** Names of one parameter that were sent with different values, in words. */
    conflicts,
    /** Names that the caller sent a value for. */
    sent,
    /** Typed values by documented name. */
    values,
    add,
    addOneOf,
    absent,
    /** Reads every parameter of one source; `decode` turns raw values first, to undefined when it can't. */
    read(
      source: Param<unknown>['in'],
      raws: ReadonlyMap<string, unknown>,
      decode = (raw: unknown): unknown => raw,
    ): void {
      for (const [name, param] of Object.entries(route.params)) {
        if (param.in !== source) continue;
        addOneOf(name, param, { names: listNames(route.params, name), raws, decode });
      }
    },
  };
}

/** Where a problem with a parameter is located, in the words of a 422 body. */
export function findLocation(param: Param<unknown>): 'query' | 'path' | 'body' {
  return param.in === 'query' || param.in === 'path' ? param.in : 'body';
}

/** Unknown words become the default, numbers outside of a clamp its nearer end; a note says so. */
function normalized(name: string, param: Param<unknown>, value: unknown, notes: string[]): unknown {
  const { known, keepsUnknown = false } = param;
  if (known !== undefined && !keepsUnknown && !known.includes(String(value))) {
    notes.push(`unknown ${name} ignored, known are ${known.join(', ')}`);
    return param.fallback;
  }
  if (param.clamp === undefined || typeof value !== 'number') return value;
  const [lowest, highest] = param.clamp;
  const clamped = Math.min(Math.max(value, lowest), highest);
  if (clamped !== value) notes.push(`${name} is limited to ${lowest}..${highest}`);
  return clamped;
}

/** A missing field. It lists names that did arrive (bounded), as most often the value is there under another name. */
export function missing(loc: readonly string[], received: Iterable<string>): Problem {
  const names = [...received].slice(0, 20).map((name) => name.slice(0, 50));
  const list = names.length === 0 ? 'nothing' : names.join(', ');
  return { loc, msg: `Field required (received: ${list})`, type: 'missing' };
}

/** Fields of a request that its operation does not read: their names go into the reply. Pure. */

const MAX_NAMES = 20;
const MAX_NAME_LENGTH = 50;

/** Names among these that no parameter of the body has; bounded, as callers choose them. */
export function unreadNames(params: Params, names: Iterable<string>): readonly string[] {
  const fields = Object.entries(params).filter(([, { in: source, type }]) =>
    source === 'file' ? type === 'link-or-file' : source === 'form' || source === 'json',
  );
  const known = new Set(fields.flatMap(([name]) => listNames(params, name)));
  return bounded([...names].filter((name) => !known.has(name)));
}

/** Callers choose the names and how many there are. */
function bounded(names: readonly string[]): readonly string[] {
  const distinct = [...new Set(names)].filter((name) => name !== '');
  return distinct.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME_LENGTH));
}

/** Names of query parameters that the operation does not read; a body's field in the query is one of them. */
export function unreadQuery(params: Params, names: Iterable<string>): readonly string[] {
  const known = new Set(
    Object.entries(params).flatMap(([name, { in: source }]) =>
      source === 'query' ? listNames(params, name) : [],
    ),
  );
  return bounded([...names].filter((name) => !known.has(name)));
}

/** The same of a form: also file parts beside the one that was used. */
export function unreadParts(
  params: Params,
  { fields, files }: FormBody,
  used: readonly unknown[],
): readonly string[] {
  // Under another name of a parameter is the same file as under its own, or the request is refused.
  const known = new Set(
    Object.entries(params).flatMap(([name, { in: source }]) =>
      source === 'file' ? listNames(params, name) : [],
    ),
  );
  const spare = files
    .filter(({ field, file }) => !known.has(field) && (file === null || !used.includes(file)))
    .map(({ field }) => field);
  const read = new Set(files.filter(({ field }) => !spare.includes(field)).map(({ field }) => field));
  const unused = spare.filter((field) => !read.has(field));
  return bounded([...unreadNames(params, fields.keys()), ...unused]);
}
