import type { IncomingMessage } from 'node:http';

import type { JsonObject } from '../../platform/json.ts';
import type { Problem } from '../replies/validation.ts';
import { namesOf } from '../route/names.ts';
import type { Param, UploadedFile } from '../route/params.ts';
import type { Route } from '../route/route.ts';
import { MalformedBody } from './body/failures.ts';
import type { IncomingFile } from './body/file-part.ts';
import { readFormBody, type FormBody, type StoredPart } from './body/form.ts';
import { readJsonBody } from './body/json.ts';
import { readBytes } from './body/text.ts';
import { applyFieldGroups } from './field-groups.ts';
import { createStoring, type FileParams } from './form-parts.ts';

/**
 * What a route's parameters hold in one request, or every problem with them at once. File parts are stored while they
 * arrive, so the order of parts does not matter and nothing is held whole.
 */
export type RestRequest =
  | { readonly problems: readonly Problem[] }
  | {
      /** Typed values by documented name. */
      readonly input: Readonly<Record<string, unknown>>;
      /** Names that the caller gave a value, as opposed to defaults. */
      readonly sent: ReadonlySet<string>;
      /** What was ignored or moved, in words for msg. */
      readonly notes: readonly string[];
      /** The JSON body as sent; empty on other operations. */
      readonly json: JsonObject;
      /** The body of an operation that documents a raw one; empty otherwise. */
      readonly rawBody: Buffer;
    };

/** Largest raw body in bytes. */
const rawMaxBytes = 1024 * 1024;

export interface ReadOptions {
  readonly request: IncomingMessage;
  readonly route: Route;
  /** Raw path segments by parameter name, still percent-encoded. */
  readonly pathParams: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Query parameters given twice are refused, and a JSON null counts as absent: the workflow service reads so. */
  readonly isStrict: boolean;
  readonly fileMaxBytes: number;
  /** Stores one file part; `param` is the parameter whose rules apply to it. */
  readonly store: (file: IncomingFile, param: Param<unknown>) => Promise<UploadedFile>;
}

/**
 * Reads everything a route declares. Throws PAYLOAD_TOO_LARGE, BAD_USER_INPUT when nothing was sent of a group of which one
 * is needed, HungUp, or what `store` throws.
 */
export async function readRequest(options: ReadOptions): Promise<RestRequest> {
  const reader = createReader(options.route);
  if (options.isStrict) reader.problems.push(...repeated(options));
  reader.read('query', lastValues(options.query));
  reader.read('path', new Map(Object.entries(options.pathParams)), decodeSegment);
  const body = options.route.body;
  if (body === undefined) return reader.result({});
  try {
    if (body.type === 'raw') return reader.result({}, await readBytes(options.request, rawMaxBytes));
    if (body.type === 'application/json') return await readJson(options, reader);
    return await readForm(options, reader);
  } catch (error) {
    if (!(error instanceof MalformedBody)) throw error;
    reader.problems.push({ loc: ['body'], msg: error.message, type: 'value_error' });
    return reader.result({});
  }
}

type Reader = ReturnType<typeof createReader>;

function createReader(route: Route) {
  const problems: Problem[] = [];
  const notes: string[] = [];
  const sent = new Set<string>();
  const values = new Map<string, unknown>();
  const add = (name: string, param: Param<unknown>, raw: unknown): void => {
    const reading = param.read(raw);
    if ('problem' in reading) {
      problems.push({ loc: [placeOf(param), name], ...reading.problem });
      return;
    }
    sent.add(name);
    values.set(name, settle(name, param, reading.value, notes));
  };
  const absent = (name: string, param: Param<unknown>, received: Iterable<string>): void => {
    if (param.required) problems.push(missing([placeOf(param), name], received));
    else values.set(name, param.fallback);
  };
  return {
    problems,
    add,
    absent,
    /** Reads every parameter of one source; `prepare` may turn a raw value or find it unreadable (undefined). */
    read(source: Param<unknown>['in'], raws: ReadonlyMap<string, unknown>, prepare = keep): void {
      for (const [name, param] of Object.entries(route.params)) {
        if (param.in !== source) continue;
        const key = namesOf(name).find((candidate) => raws.has(candidate));
        if (key === undefined) absent(name, param, raws.keys());
        else add(name, param, prepare(raws.get(key)));
      }
    },
    result(json: JsonObject, rawBody: Buffer = Buffer.alloc(0)): RestRequest {
      if (problems.length > 0) return { problems };
      if (route.body !== undefined) applyFieldGroups(route.body, { sent, values, notes });
      return { input: Object.fromEntries(values), sent, notes, json, rawBody };
    },
  };
}

const keep = (raw: unknown): unknown => raw;

function placeOf(param: Param<unknown>): 'query' | 'path' | 'body' {
  return param.in === 'query' || param.in === 'path' ? param.in : 'body';
}

/** Applies what is lenient about a parameter: unknown words are ignored, numbers beyond a clamp are moved. */
function settle(name: string, param: Param<unknown>, value: unknown, notes: string[]): unknown {
  const { known, keepsUnknown = false } = param;
  if (known !== undefined && !keepsUnknown && !known.includes(String(value))) {
    notes.push(`unknown ${name} ignored, known are ${known.join(', ')}`);
    return param.fallback;
  }
  if (param.clamp === undefined || typeof value !== 'number') return value;
  const [lowest, highest] = param.clamp;
  const moved = Math.min(Math.max(value, lowest), highest);
  if (moved !== value) notes.push(`${name} is limited to ${lowest}..${highest}`);
  return moved;
}

/** A missing field, with the names that did arrive (bounded): most often it is there under another name. */
function missing(loc: readonly string[], received: Iterable<string>): Problem {
  const names = [...received].slice(0, 20).map((name) => name.slice(0, 50));
  const list = names.length === 0 ? 'nothing' : names.join(', ');
  return { loc, msg: `Field required (received: ${list})`, type: 'missing' };
}

function lastValues(query: URLSearchParams): ReadonlyMap<string, string> {
  return new Map(query);
}

/** Parameters that came more than once: which of the values is meant is not for us to guess. */
function repeated({ route, query }: ReadOptions): readonly Problem[] {
  const names = Object.entries(route.params)
    .filter(([name, param]) => param.in === 'query' && query.getAll(name).length > 1)
    .map(([name]) => name);
  return names.map((name) => ({
    loc: ['query', name],
    msg: 'Input should be given once',
    type: 'value_error',
  }));
}

/** An undecodable segment stays as something that no reader takes for a text. */
function decodeSegment(raw: unknown): unknown {
  try {
    return decodeURIComponent(String(raw));
  } catch {
    return undefined;
  }
}

async function readJson({ request, route, isStrict }: ReadOptions, reader: Reader): Promise<RestRequest> {
  const body = await readJsonBody(request, { isRequired: route.body?.required === true });
  if ('problem' in body) {
    const { loc, type, msg } = body.problem;
    reader.problems.push({ loc: ['body', ...loc], msg, type });
    return reader.result({});
  }
  const fields = Object.entries(body.object).filter(([, value]) => !isStrict || value !== null);
  reader.read('json', new Map(fields));
  return reader.result(body.object);
}

async function readForm(options: ReadOptions, reader: Reader): Promise<RestRequest> {
  const { request, route, fileMaxBytes } = options;
  const fileParams = Object.entries(route.params).filter(([, param]) => param.in === 'file');
  const storing = createStoring(options, fileParams, reader.problems);
  const body = await readFormBody({ request, fileMaxBytes, store: storing.store });
  const filled = new Map([...textsOf(route, body)].filter(([, value]) => value !== ''));
  if (route.body?.required === true && filled.size === 0 && body.files.length === 0) {
    return reportEmptyForm(route, reader, body);
  }
  reader.read('form', filled);
  assignFiles(fileParams, { ...body, fields: filled }, reader);
  storing.settle();
  return reader.result({});
}

/** The last value of each field; of those that may be repeated every value, on a line of its own. */
function textsOf({ params }: Route, { fields, values }: FormBody): ReadonlyMap<string, string> {
  const whole = Object.entries(params)
    .filter(([, { repeated }]) => repeated === true)
    .flatMap(([name]) => namesOf(name))
    .flatMap((name) => (values.has(name) ? [[name, (values.get(name) ?? []).join('\n')] as const] : []));
  return new Map([...fields, ...whole]);
}

function reportEmptyForm(route: Route, reader: Reader, body: FormBody): RestRequest {
  const received = body.isForm ? [...body.fields.keys()] : ['no form'];
  const before = reader.problems.length;
  for (const [name, param] of Object.entries(route.params)) {
    if (placeOf(param) === 'body' && param.required) reader.absent(name, param, received);
  }
  if (reader.problems.length === before) reader.problems.push(missing(['body'], received));
  return reader.result({});
}

/**
 * Gives each file parameter its part: the documented name (or an alias of it), else `file`, else the only file part.
 * The last two need a single file parameter, or they would be a guess.
 */
function assignFiles(params: FileParams, body: FormBody, reader: Reader): void {
  const received = [...body.fields.keys(), ...body.files.map((part) => part.field)];
  for (const [name, param] of params) {
    const part = partFor(name, params.length === 1, body.files);
    if (part !== undefined) {
      reader.add(name, param, part.file);
    } else if (param.type === 'link-or-file' && body.fields.has(name)) {
      reader.add(name, param, body.fields.get(name));
    } else if (body.fields.has(name)) {
      const msg = 'Value error, expected a file part, received text';
      reader.problems.push({ loc: ['body', name], msg, type: 'value_error' });
    } else {
      reader.absent(name, param, received);
    }
  }
}

function partFor(name: string, isOnlyParam: boolean, files: readonly StoredPart[]): StoredPart | undefined {
  for (const candidate of namesOf(name)) {
    const part = files.findLast(({ field }) => field === candidate);
    if (part !== undefined) return part;
  }
  if (!isOnlyParam) return undefined;
  return files.findLast(({ field }) => field === 'file') ?? (files.length === 1 ? files[0] : undefined);
}
