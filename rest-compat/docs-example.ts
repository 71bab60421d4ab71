import type { JsonSchema, OpenApiOperation } from './openapi-types.ts';

/** A curl command for an operation: what it needs, and nothing more. Pure. */

export interface Placed {
  readonly method: string;
  readonly path: string;
  readonly operation: OpenApiOperation;
}

/** The command, one option on each line. */
export function exampleOf({ method, path, operation }: Placed, baseUrl: string): string {
  const needed = (operation.parameters ?? []).filter(({ required }) => required);
  const values = new Map(needed.map(({ name, schema }) => [name, sampleOf(name, schema)] as const));
  const place = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values.get(name) ?? ''),
  );
  const query = needed
    .filter(({ in: where }) => where === 'query')
    .map(({ name }) => `${name}=${encodeURIComponent(values.get(name) ?? '')}`);
  const url = `${baseUrl}${place}${query.length === 0 ? '' : `?${query.join('&')}`}`;
  const verb = method === 'GET' ? '' : ` -X ${method}`;
  return [`curl${verb} ${quoted(url)}`, ...bodyOf(operation)].join(' \\\n  ');
}

function bodyOf({ requestBody }: OpenApiOperation): readonly string[] {
  if (requestBody === undefined) return [];
  const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(requestBody.content);
  if (type === '*/*') return ["-H 'pp-signature: SIGNATURE'", '--data-binary @event.json'];
  const fields = chosenFields(schema);
  if (type === 'application/json') {
    const json = fields.map(([name, field]) => [name, jsonSampleOf(name, field)] as const);
    return ["-H 'content-type: application/json'", `-d ${quoted(JSON.stringify(Object.fromEntries(json)))}`];
  }
  const option = type === 'multipart/form-data' ? '-F' : '--data-urlencode';
  return fields.map(([name, field]) => `${option} ${quoted(`${name}=${sampleOf(name, field)}`)}`);
}

/** Fields that are required, and of each group of which one is needed the easiest; the first one when nothing is. */
function chosenFields(schema: JsonSchema): readonly (readonly [string, JsonSchema])[] {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
  const groups = (schema['allOf'] ?? []) as readonly { anyOf: readonly { required: readonly string[] }[] }[];
  const names = [
    ...((schema['required'] ?? []) as readonly string[]),
    ...groups.map(({ anyOf }) => easiest(anyOf.flatMap(({ required }) => required))),
  ];
  const chosen = properties.filter(([name]) => names.includes(name));
  return chosen.length > 0 ? chosen : properties.slice(0, 1);
}

function easiest(names: readonly string[]): string {
  const order = [/_file$/, /^prompt$|_name$/, /_url$/, /./];
  const [first = ''] = order.flatMap((pattern) => names.filter((name) => pattern.test(name)));
  return first;
}

const someId = '019aa3c4-5b6c-7d3a-9a52-0f3f2c9f5b1e';

/** Values by name, most special first. */
const samples: readonly (readonly [RegExp, string])[] = [
  [/^audio.*(_url|_input)$/, 'https://example.com/voice.mp3'],
  [/^video.*_url$/, 'https://example.com/clip.mp4'],
  [/^redirect_url$/, '/'],
  [/url|_input$/i, 'https://example.com/picture.png'],
  [/^session_id$/, 'cs_test_1'],
  [/^task_type$/, 'tea'],
  [/^(template)?_?code$/i, 'poster'],
  [/^user_?id$/i, 'user-1'],
  [/^workflow_name$/, 'text-to-image'],
  [/^voice_id$/, 'my-voice-1'],
  [/^platform$/, 'wechat'],
  [/^app_id$/, 'wx-app'],
  [/id$/i, someId],
  [/^messages$/, '[{"role":"user","content":"What is 2+2?"}]'],
  [/^ar$/, '16:9'],
  [/^prompt$/, 'a lighthouse at dawn'],
  [/^text$/, 'The lamp turns all night.'],
  [/^operation$/, 'sync_pp'],
  [/token/, 'TOKEN'],
];

/** A value that the input may have, as text. */
function sampleOf(name: string, schema: JsonSchema): string {
  const { contentMediaType, default: standard, enum: words, type, minimum } = schema;
  if (contentMediaType === 'application/octet-stream') return `@${fileFor(name, schema)}`;
  if (standard !== undefined) return typeof standard === 'string' ? standard : JSON.stringify(standard);
  if (Array.isArray(words)) return String(words[0]);
  if (type === 'integer' || type === 'number') return String(Number(minimum ?? 1));
  if (type === 'boolean') return 'true';
  return samples.find(([pattern]) => pattern.test(name))?.[1] ?? name;
}

function fileFor(name: string, schema: JsonSchema): string {
  const accepted = (schema['x-accepted-types'] ?? []) as readonly string[];
  if (/video/.test(name) || accepted[0]?.startsWith('video')) return 'clip.mp4';
  return /audio/.test(name) ? 'voice.mp3' : 'picture.png';
}

function jsonSampleOf(name: string, schema: JsonSchema): unknown {
  const { type } = schema;
  if (type === 'object') return { prompt: 'a fox' };
  if (type === 'array') return ['poster'];
  const text = sampleOf(name, schema);
  return type === 'integer' || type === 'number' ? Number(text) : type === 'boolean' ? text === 'true' : text;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
