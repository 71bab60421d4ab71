import type { JsonSchema, OpenApiOperation } from '../schemas/openapi-types.ts';

/** A curl command for an operation, with its required inputs alone. Pure. */

/** An operation with its method and path. */
export interface PlacedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: OpenApiOperation;
}

const someId = '019aa3c4-5b6c-7d3a-9a52-0f3f2c9f5b1e';
const somePayment = 'pay_0mwhkq4c07d3a9a520f3f2c9f5b1e6b8d1a2c3e4f';
/** An object; createJsonSample fills it. */
const anObject = '{}';

/** Inputs of single examples: those that work only together, or whose name says too little. */
const exampleInputs: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'POST /api/template/create': { task_type: 'my-type', prompt: 'a cup of tea' },
  'PUT /api/template/update': { id: '1001', prompt: 'two cups of tea' },
  'DELETE /api/template/delete/{template_id}': { template_id: '1001' },
  'POST /api/agg/speech_router/sync/file/upload': { file: '@voice.mp3' },
  'POST /api/agg/speech_router/sync/voice/clone': { file: '@voice.mp3' },
  'POST /api/comfy/async/submit/task': { inputs: '{"prompt":"a lighthouse"}' },
  'POST /api/comfy/sync/execute/workflow': { inputs: '{"prompt":"a lighthouse"}' },
  'POST /api/cloud/humanvid/video/submit/task': { img_input: '@image.png', audio_input: '@voice.mp3' },
  'POST /api/cloud/digital/video/submit/task': { digital_id: someId, text: 'Good morning.' },
  'GET /auth/idp/callback': { code: 'CODE', state: 'STATE' },
  'POST /auth/{platform}/token': { code: 'ada-1' },
  'POST /payment/checkout/{templateCode}': { metadata: anObject },
  'GET /payment/success': { session_id: 'cs_test_1', payment_id: somePayment },
  'GET /payment/cancel': { session_id: 'cs_test_1', payment_id: somePayment },
  'POST /task': { parameters: anObject },
  'POST /templates': { code: 'my-template', name: 'My template' },
  'DELETE /templates/delete/{code}': { code: 'my-template' },
  'GET /auth/idp/userinfo': { Authorization: 'Bearer TOKEN' },
  'GET /auth/idp/logout': { Authorization: 'Bearer TOKEN' },
};

/** The values of the example: every required input, and of each group of alternatives the easiest. Files are `@name`. */
export function exampleValues({ method, path, operation }: PlacedOperation): ReadonlyMap<string, string> {
  const examples = exampleInputs[`${method} ${path}`] ?? {};
  const chosen = (operation.parameters ?? []).filter(({ name, required }) => required || name in examples);
  const [content] = Object.values(operation.requestBody?.content ?? {});
  const fields = content === undefined ? [] : chosenFields(content.schema, Object.keys(examples));
  const isJson = 'application/json' in (operation.requestBody?.content ?? {});
  return new Map([
    ...chosen.map(({ name, schema }) => [name, examples[name] ?? createSample(name, schema)] as const),
    ...fields.map(([name, schema]) => {
      const text = examples[name] ?? createSample(name, schema);
      const { type } = schema;
      const isStructure = isJson && (type === 'object' || type === 'array');
      return [name, isStructure ? JSON.stringify(createJsonSample(schema, text)) : text] as const;
    }),
  ]);
}

/** The command, one option on each line. */
export function buildExample({ method, path, operation }: PlacedOperation, baseUrl: string): string {
  const examples = exampleInputs[`${method} ${path}`] ?? {};
  const chosen = (operation.parameters ?? []).filter(({ name, required }) => required || name in examples);
  const values = new Map(
    chosen.map(({ name, schema }) => [name, examples[name] ?? createSample(name, schema)] as const),
  );
  const place = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values.get(name) ?? ''),
  );
  const query = chosen
    .filter(({ in: where }) => where === 'query')
    .map(({ name }) => `${name}=${encodeURIComponent(values.get(name) ?? '')}`);
  const url = `${baseUrl}${place}${query.length === 0 ? '' : `?${query.join('&')}`}`;
  const verb = method === 'GET' ? '' : ` -X ${method}`;
  const { Authorization: credential } = examples;
  const header = credential === undefined ? [] : [`-H ${quoted(`Authorization: ${credential}`)}`];
  return [`curl${verb} ${quoted(url)}`, ...header, ...exampleBody(operation, examples)].join(' \\\n  ');
}

function exampleBody(
  { requestBody }: OpenApiOperation,
  examples: Readonly<Record<string, string>>,
): readonly string[] {
  if (requestBody === undefined) return [];
  const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(requestBody.content);
  if (type === '*/*') return ["-H 'pp-signature: SIGNATURE'", '--data-binary @event.json'];
  const fields = chosenFields(schema, Object.keys(examples));
  if (type === 'application/json') {
    const json = fields.map(
      ([name, field]) =>
        [name, createJsonSample(field, examples[name] ?? createSample(name, field))] as const,
    );
    return ["-H 'content-type: application/json'", `-d ${quoted(JSON.stringify(Object.fromEntries(json)))}`];
  }
  const option = type === 'multipart/form-data' ? '-F' : '--data-urlencode';
  return fields.map(
    ([name, field]) => `${option} ${quoted(`${name}=${examples[name] ?? createSample(name, field)}`)}`,
  );
}

/** Fields that are required or have a value here, and of each group of alternatives the easiest; else the first field. */
function chosenFields(
  schema: JsonSchema,
  examples: readonly string[],
): readonly (readonly [string, JsonSchema])[] {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
  const groups = ((schema['allOf'] ?? []) as readonly { anyOf: readonly { required: readonly string[] }[] }[])
    .map(({ anyOf }) => anyOf.flatMap(({ required }) => required))
    .filter((group) => !group.some((name) => examples.includes(name)));
  const names = [...((schema['required'] ?? []) as readonly string[]), ...examples, ...groups.map(easiest)];
  const chosen = properties.filter(([name]) => names.includes(name));
  return chosen.length > 0 ? chosen : properties.slice(0, 1);
}

function easiest(names: readonly string[]): string {
  const order = [/_file$/, /^prompt$|_name$/, /_url$/, /./];
  const [first = ''] = order.flatMap((pattern) => names.filter((name) => pattern.test(name)));
  return first;
}

/** Sample values by name, the most specific pattern first. */
const samples: readonly (readonly [RegExp, string])[] = [
  [/^audio.*(_url|_input)$/, 'https://example.com/voice.mp3'],
  [/^video.*_url$/, 'https://example.com/clip.mp4'],
  [/^redirect_url$/, '/'],
  [/url|_input$/i, 'https://example.com/image.png'],
  [/^session_id$/, 'cs_test_1'],
  [/^task_type$/, 'tea'],
  [/^(template)?_?code$/i, 'poster'],
  [/^user_?id$/i, 'user-1'],
  [/^workflow_name$/, 'text-to-image'],
  [/^voice_id$/, 'my-voice-1'],
  [/^platform$/, 'wechat'],
  [/^payment_?id$/i, somePayment],
  [/id$/i, someId],
  [/^messages$/, '[{"role":"user","content":"What is 2+2?"}]'],
  [/^tools$/, '[{"type":"function","function":{"name":"weather","parameters":{"type":"object"}}}]'],
  [/^tool_choice$/, 'auto'],
  [/^response_format$/, '{"type":"json_object"}'],
  [/^reasoning_effort$/, 'low'],
  [/^ar$/, '16:9'],
  [/^prompt$/, 'a lighthouse at dawn'],
  [/^text$/, 'The lamp turns all night.'],
  [/^operation$/, 'sync_pp'],
  [/^login_code$/, 'LOGIN_CODE'],
  [/token/, 'TOKEN'],
];

/** A value that the input may have, as text. */
function createSample(name: string, schema: JsonSchema): string {
  const { contentMediaType, default: standard, enum: words, type, minimum } = schema;
  if (contentMediaType === 'application/octet-stream') return `@${fileFor(name)}`;
  if (standard !== undefined) return typeof standard === 'string' ? standard : JSON.stringify(standard);
  if (Array.isArray(words)) return String(words[0]);
  if (type === 'integer' || type === 'number') return String(Number(minimum ?? 1));
  if (type === 'boolean') return 'true';
  return samples.find(([pattern]) => pattern.test(name))?.[1] ?? name;
}

function fileFor(name: string): string {
  if (/video/.test(name)) return 'clip.mp4';
  return /audio/.test(name) ? 'voice.mp3' : 'image.png';
}

function createJsonSample({ type }: JsonSchema, text: string): unknown {
  if (type === 'object') return { prompt: 'a fox' };
  if (type === 'array') return ['poster'];
  return type === 'integer' || type === 'number' ? Number(text) : type === 'boolean' ? text === 'true' : text;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
