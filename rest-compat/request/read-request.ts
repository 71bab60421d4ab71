import type { IncomingMessage } from 'node:http';

import { AppError, badInput } from '../../platform/errors.ts';
import type { JsonObject } from '../../platform/json.ts';
import type { Problem } from '../replies/envelopes.ts';
import { listNames } from '../route/param.ts';
import type { BodySpec, Route } from '../route/route.ts';
import { MalformedBody, readBytes } from './body/body.ts';
import { type FormBody, readFormBody } from './body/form.ts';
import { readJsonBody } from './body/json.ts';
import { assignParts, createPartStorage, type StoreFile } from './form-parts.ts';
import {
  createParameterReader,
  findLocation,
  missing,
  type ParameterReader,
  unreadNames,
  unreadParts,
  unreadQuery,
} from './parameter-reader.ts';

/** The values of a route's parameters in one request, or every problem with them. */
export type RestRequest =
  | { readonly problems: readonly Problem[] }
  | {
      /** Typed values by documented name. */
      readonly input: Readonly<Record<string, unknown>>;
      /** Names that the caller sent a value for, as opposed to defaults. */
      readonly sent: ReadonlySet<string>;
      /** What was ignored or clamped, in words for msg. */
      readonly notes: readonly string[];
      /** The JSON body as sent; empty on other operations. */
      readonly json: JsonObject;
      /** The body of an operation that documents a raw one; empty otherwise. */
      readonly rawBody: Buffer;
    };

const rawMaxBytes = 1024 * 1024;

/** A request and how it is read. */
export interface ReadOptions {
  readonly request: IncomingMessage;
  readonly route: Route;
  /** Raw path segments by parameter name, still percent-encoded. */
  readonly pathParams: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Repeated query parameters are refused, and a JSON null counts as absent: so the workflow service reads. */
  readonly isStrict: boolean;
  readonly fileMaxBytes: number;
  readonly store: StoreFile;
  /** Filled with the names of what was sent and the operation does not read, also when the request is refused. */
  readonly ignored: string[];
}

interface Body {
  readonly json?: JsonObject;
  readonly rawBody?: Buffer;
}

/**
 * Reads everything a route declares. Throws PAYLOAD_TOO_LARGE, BAD_USER_INPUT when a group of which one field is needed has
 * none or two names of one parameter differ, ClientDisconnected, or what `store` throws.
 */
export async function readRequest(options: ReadOptions): Promise<RestRequest> {
  const { route, query, pathParams, isStrict, ignored } = options;
  if (route.readsRawQuery !== true) ignored.push(...unreadQuery(route.params, query.keys()));
  const reader = createParameterReader(route);
  if (isStrict) reader.problems.push(...repeated(options));
  reader.read('query', new Map(query));
  reader.read('path', new Map(Object.entries(pathParams)), decodeSegment);
  const { json = {}, rawBody = Buffer.alloc(0) } = await readBody(options, reader);
  const { problems, conflicts, values, sent, notes } = reader;
  if (problems.length > 0) {
    // What a problem is about was read.
    const reported = new Set(problems.map(({ loc }) => loc[1]));
    ignored.splice(0, ignored.length, ...ignored.filter((name) => !reported.has(name)));
    return { problems };
  }
  if (conflicts.length > 0) throw new AppError('BAD_USER_INPUT', conflicts.join('; '));
  if (route.body !== undefined) applyFieldGroups(route.body, reader);
  return { input: Object.fromEntries(values), sent, notes, json, rawBody };
}

async function readBody(options: ReadOptions, reader: ParameterReader): Promise<Body> {
  const { route, request } = options;
  try {
    if (route.body === undefined) return {};
    if (route.body.type === 'raw') return { rawBody: await readBytes(request, rawMaxBytes) };
    if (route.body.type === 'application/json') return await readJson(options, reader);
    return await readForm(options, reader);
  } catch (error) {
    if (!(error instanceof MalformedBody)) throw error;
    reader.problems.push({ loc: ['body'], msg: error.message, type: 'value_error' });
  }
  return {};
}

/** Query parameters that were sent more than once, so that it is unclear which value is meant. */
function repeated({ route, query }: ReadOptions): readonly Problem[] {
  return Object.entries(route.params)
    .filter(([name, param]) => param.in === 'query' && query.getAll(name).length > 1)
    .map(([name]) => ({ loc: ['query', name], msg: 'Input should be given once', type: 'value_error' }));
}

/** A percent-decoded path segment; undefined, which no parameter accepts, when it can't be decoded. */
function decodeSegment(raw: unknown): unknown {
  try {
    return decodeURIComponent(String(raw));
  } catch {
    return undefined;
  }
}

async function readJson(
  { request, route, isStrict, ignored }: ReadOptions,
  reader: ParameterReader,
): Promise<Body> {
  const body = await readJsonBody(request, { isRequired: route.body?.required === true });
  if ('problem' in body) {
    reader.problems.push({ ...body.problem, loc: ['body', ...body.problem.loc] });
    return {};
  }
  const fields = Object.entries(body.object).filter(([, value]) => !isStrict || value !== null);
  reader.read('json', new Map(fields));
  const names = fields.map(([name]) => name);
  if (route.body?.additionalProperties !== true) ignored.push(...unreadNames(route.params, names));
  return { json: body.object };
}

/** File parts are stored while they arrive, so the order of parts does not matter and no file is held in memory. */
async function readForm(options: ReadOptions, reader: ParameterReader): Promise<Body> {
  const { request, route, fileMaxBytes, ignored } = options;
  const fileParams = Object.entries(route.params).filter(([, param]) => param.in === 'file');
  const storage = createPartStorage(options, fileParams, reader.problems);
  const body = await readFormBody({ request, fileMaxBytes, store: storage.store });
  const fields = new Map([...collectTexts(route, body)].filter(([, value]) => value !== ''));
  if (route.body?.required === true && fields.size === 0 && body.files.length === 0) {
    reportEmptyForm(route, reader, body);
    return {};
  }
  reader.read('form', fields);
  assignParts(route, { ...body, fields }, reader);
  ignored.push(...unreadNames(route.params, fields.keys()));
  storage.throwRefusal();
  const parts = unreadParts(route.params, { ...body, fields }, [...reader.values.values()]);
  ignored.push(...parts.filter((name) => !ignored.includes(name)));
  return {};
}

/** The last value of each field; of those that may be repeated every value, on a line of its own. */
function collectTexts({ params }: Route, { fields, values }: FormBody): ReadonlyMap<string, string> {
  const whole = Object.entries(params)
    .filter(([, { repeated }]) => repeated === true)
    .flatMap(([name]) => listNames(params, name))
    .flatMap((name) => (values.has(name) ? [[name, (values.get(name) ?? []).join('\n')] as const] : []));
  return new Map([...fields, ...whole]);
}

function reportEmptyForm(route: Route, reader: ParameterReader, body: FormBody): void {
  const received = body.isForm ? [...body.fields.keys()].map((name) => `${name}: empty`) : ['no form'];
  const before = reader.problems.length;
  for (const [name, param] of Object.entries(route.params)) {
    if (findLocation(param) === 'body' && param.required) reader.absent(name, param, received);
  }
  if (reader.problems.length === before) reader.problems.push(missing(['body'], received));
}

/**
 * Keeps one field of each group of alternatives (a file or its link, a graph or its name): the first one that was sent. The
 * others are ignored with a note. Throws BAD_USER_INPUT when a group of which one is needed has none.
 */
function applyFieldGroups(
  { oneOf = [], atMostOneOf = [] }: BodySpec,
  { sent, values, notes }: Pick<ParameterReader, 'sent' | 'values' | 'notes'>,
): void {
  for (const names of [...oneOf, ...atMostOneOf]) {
    const [used, ...others] = names.filter((name) => sent.has(name));
    for (const name of others) {
      values.set(name, undefined);
      notes.push(`${name} ignored, ${used} is used`);
    }
    const isNeeded = oneOf.includes(names);
    if (used === undefined && isNeeded) throw badInput(names[0] ?? '', `send one of ${names.join(', ')}`);
  }
}
