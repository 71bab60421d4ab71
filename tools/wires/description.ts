import { readFileSync } from 'node:fs';

import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';

import { isDiscovery, toOpenApi } from './discovery.ts';
import { nested } from './nested-form.ts';
import type { Recorded } from './record.ts';

/** What a vendor's own description says of requests. */
export interface Description {
  /** What is wrong with a request; empty: nothing, or a path that the description does not have for this vendor's files. */
  findProblems(sent: Recorded): Promise<readonly string[]>;
}

interface Operation {
  readonly parameters?: readonly { readonly name?: string; readonly in?: string }[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: object }>> };
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Most problems that are told of one request. */
const MAX_PROBLEMS = 5;

/**
 * Reads an OpenAPI document (JSON or YAML), or one of Google's discovery, from a file. `isClosed`: the vendor refuses names that its
 * objects do not have at any depth, not only in the body itself.
 */
export function readDescription(file: string, isClosed: boolean): Description {
  const read: unknown = parse(readFileSync(file, 'utf8'), { maxAliasCount: -1 });
  const open = withoutNullable(isDiscovery(read) ? toOpenApi(read) : read);
  const document = (isClosed ? closed(open) : open) as OpenApi;
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    validateFormats: false,
    logger: false,
    // The fields of forms are texts.
    coerceTypes: true,
  });
  ajv.addSchema(document, 'api');
  return {
    async findProblems(sent) {
      const found = findOperation(document, sent);
      if (found === null) return [`no ${sent.method} ${stripQuery(sent)} in the description`];
      const untaken = untakenInQuery(found.operation, sent);
      const type = (sent.headers['content-type'] ?? '').split(';', 1)[0] ?? '';
      const content = found.operation.requestBody?.content;
      if (content === undefined || sent.body.length === 0) return untaken;
      if (content[type]?.schema === undefined) return [...untaken, `a body of the type ${type}`];
      const at = ['paths', found.path, sent.method.toLowerCase(), 'requestBody', 'content', type, 'schema'];
      // A name that no part of the schema has is refused or dropped by the vendor.
      const schema = { $ref: `api#/${at.map(pointer).join('/')}`, unevaluatedProperties: false };
      const validate = ajv.compile(schema);
      void validate(await parseBody(sent, type));
      const told = (validate.errors ?? []).map(
        ({ instancePath, message = '', params }) =>
          `${instancePath || 'body'} ${message} ${JSON.stringify(params)}`,
      );
      return [...untaken, ...told].slice(0, MAX_PROBLEMS);
    },
  };
}

/** Parameters of the query that the operation does not have; `created[gte]` is `created`. */
function untakenInQuery({ parameters = [] }: Operation, { path }: Recorded): readonly string[] {
  const [, query = ''] = path.split('?', 2);
  const known = parameters.filter((one) => one.in === 'query').map(({ name }) => name);
  const names = [...new URLSearchParams(query).keys()].map((name) => name.replace(/\[.*$/, ''));
  return names.filter((name) => !known.includes(name)).map((name) => `no parameter ${name}`);
}

/** OpenAPI 3.0 says of a schema that null is taken too; JSON Schema has a type for that. */
function withoutNullable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNullable);
  if (typeof value !== 'object' || value === null) return value;
  const { nullable, ...rest } = value as Readonly<Record<string, unknown>>;
  const inner = Object.fromEntries(Object.entries(rest).map(([name, one]) => [name, withoutNullable(one)]));
  return nullable === true ? { anyOf: [inner, { type: 'null' }] } : inner;
}

function stripQuery({ path }: Recorded): string {
  return path.split('?', 1)[0] ?? path;
}

function findOperation({ paths }: OpenApi, sent: Recorded) {
  const segments = stripQuery(sent).split('/');
  for (const [path, item] of Object.entries(paths)) {
    const wanted = path.split('/');
    const fits =
      wanted.length === segments.length && wanted.every((one, at) => fitsSegment(one, segments[at] ?? ''));
    const operation = item[sent.method.toLowerCase()];
    if (fits && operation !== undefined) return { path, operation };
  }
  return null;
}

/** Whether a segment of a path is one of the description: `{name}` stands for anything, also before a verb (`{name}:verb`). */
function fitsSegment(wanted: string, segment: string): boolean {
  if (wanted === segment) return true;
  const found = /^\{\w+\}(:\w+)?$/.exec(wanted);
  if (found === null) return false;
  const verb = found[1] ?? '';
  const value = segment.slice(0, segment.length - verb.length);
  return segment.endsWith(verb) && value !== '' && !value.includes(':');
}

function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, closed(one)]));
  const isObject = inner['type'] === 'object' && typeof inner['properties'] === 'object';
  return isObject ? { additionalProperties: false, ...inner } : inner;
}

/** A name within a JSON pointer, within a URI. */
function pointer(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** A form's fields are texts: numbers and truth are read as what they stand for, files as texts of their names. */
async function parseBody({ body, headers }: Recorded, type: string): Promise<unknown> {
  if (type === 'application/json') return JSON.parse(body.toString('utf8')) as unknown;
  if (type === 'application/x-www-form-urlencoded') return nested(new URLSearchParams(body.toString('utf8')));
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': headers['content-type'] ?? '' },
  }).formData();
  const fields: Record<string, unknown> = {};
  for (const [written, value] of form.entries()) {
    const name = written.replace(/\[\]$/, '');
    const one = typeof value === 'string' ? plain(value) : value.name;
    fields[name] = written.endsWith('[]') ? [...((fields[name] as unknown[] | undefined) ?? []), one] : one;
  }
  return fields;
}

function plain(text: string): unknown {
  return /^(?:true|false|-?\d+(?:\.\d+)?)$/.test(text) ? (JSON.parse(text) as unknown) : text;
}
