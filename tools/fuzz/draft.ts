import type { JsonSchema } from '../../rest-compat/schemas/openapi-types.ts';
import type { Described } from './description.ts';
import type { Known } from './known.ts';
import type { Random } from './random.ts';
import type { Message } from './raw-http.ts';

/** A request as its parts, which mutations may change before they are put together. */
export interface Draft {
  readonly described: Described;
  method: string;
  /** Values by name, not yet percent-encoded. */
  path: Map<string, string>;
  query: [string, string][];
  headers: [string, string][];
  body: DraftBody | null;
}

interface DraftBody {
  /** How it is written. */
  as: 'json' | 'urlencoded' | 'multipart';
  /** Texts, files as Buffers, or any JSON. */
  fields: [string, unknown][];
}

/** A request that its document allows, with values that something is known of. */
export function createDraft(described: Described, known: Known, random: Random): Draft {
  const parameters = described.operation.parameters ?? [];
  const wanted = parameters.filter(({ required }) => required || random.chance(40));
  const valued = wanted.map(({ name, in: place, schema }) => ({
    name,
    place,
    value: String(known.valueFor(name, schema)),
  }));
  const at = (wantedPlace: string): [string, string][] =>
    valued.filter(({ place }) => place === wantedPlace).map(({ name, value }) => [name, value]);
  return {
    described,
    method: described.method,
    path: new Map(at('path')),
    query: at('query'),
    headers: [],
    body: createBody(described, known, random),
  };
}

const ways = {
  'application/json': 'json',
  'application/x-www-form-urlencoded': 'urlencoded',
  'multipart/form-data': 'multipart',
} as const;

function createBody({ operation }: Described, known: Known, random: Random): DraftBody | null {
  const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(operation.requestBody?.content ?? {});
  if (operation.requestBody === undefined) return null;
  const as = ways[type as keyof typeof ways] ?? 'json';
  const required = (schema['required'] ?? []) as readonly string[];
  const alternatives = ((schema['allOf'] ?? []) as readonly { anyOf: { required: string[] }[] }[]).map(
    ({ anyOf }) => random.of(anyOf).required.at(0),
  );
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
  const fields = properties
    .filter(([name]) => required.includes(name) || alternatives.includes(name) || random.chance(25))
    .map(([name, field]): [string, unknown] => [name, known.valueFor(name, field)]);
  return { as, fields };
}

/** The parts put together. */
export function buildMessage(
  { described, method, path, query, headers, body }: Draft,
  random: Random,
): Message {
  const filled = described.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(toSound(path.get(name) ?? '')),
  );
  const search = query.map(([name, value]) => `${name}=${encodeURIComponent(toSound(value))}`).join('&');
  const target = search === '' ? filled : `${filled}?${search}`;
  if (body === null) return { method, target, headers, body: Buffer.alloc(0) };
  const written = write(body, random);
  return { method, target, headers: [['Content-Type', written.type], ...headers], body: written.bytes };
}

/** Halves of surrogate pairs can't be percent-encoded. */
function toSound(text: string): string {
  return text.toWellFormed();
}

function write({ as, fields }: DraftBody, random: Random): { readonly type: string; readonly bytes: Buffer } {
  if (as === 'json') {
    const members = fields.map(
      ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(plain(value)) ?? 'null'}`,
    );
    return { type: 'application/json', bytes: Buffer.from(`{${members.join(',')}}`) };
  }
  if (as === 'urlencoded') {
    const pairs = fields.map(
      ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(toSound(toText(value)))}`,
    );
    return { type: 'application/x-www-form-urlencoded', bytes: Buffer.from(pairs.join('&')) };
  }
  const boundary = `----fuzz${random.below(1_000_000)}`;
  const parts = fields.flatMap(([name, value]) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${fileHead(value)}\r\n\r\n`),
    Buffer.isBuffer(value) ? value : Buffer.from(toText(value)),
    Buffer.from('\r\n'),
  ]);
  const bytes = Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
  return { type: `multipart/form-data; boundary=${boundary}`, bytes };
}

function fileHead(value: unknown): string {
  return Buffer.isBuffer(value) ? '; filename="a.bin"\r\nContent-Type: application/octet-stream' : '';
}

function plain(value: unknown): unknown {
  return Buffer.isBuffer(value) ? value.toString('base64') : value;
}

function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  return Buffer.isBuffer(value) ? value.toString('base64') : (JSON.stringify(value) ?? '');
}
