import { readFile } from 'node:fs/promises';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { rest, type RestAnswer } from '../kit/requests.ts';

/** Every documented operation over a live server: one sound request each, and everything its inputs can have wrong. */

interface Field {
  readonly name: string;
  readonly in?: 'query' | 'path';
  readonly type: string;
  readonly required: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
}

interface Documented {
  readonly method: string;
  readonly path: string;
  readonly deprecated: boolean;
  readonly params: readonly Field[];
  readonly body?: { readonly type: string; readonly required: boolean; readonly fields: readonly Field[] };
}

/** What is sent: values by name, or nothing at all where a body should be. */
interface Sent {
  readonly params: Readonly<Record<string, string | number | undefined>>;
  readonly body: Readonly<Record<string, unknown>> | null;
}

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln({ settings: { RATE_LIMIT: 'status=50000,read=50000,start=50000' } });
  await kiln.control('pace', { queuedMs: 0, runningMs: 0 });
});
afterAll(() => kiln.close());

const documented = JSON.parse(
  await readFile(new URL('../documented-operations.json', import.meta.url), 'utf8'),
) as readonly Documented[];

const picture = () => new File(['not really a picture'], 'a.txt', { type: 'text/plain' });
/** A living template that nobody needs, for the operations that change one. */
async function newTemplate(): Promise<number> {
  const taskType = `made-${Math.random()}`;
  const { body } = await rest(kiln.url, 'POST', '/api/template/create', { task_type: taskType });
  return body.data.id;
}
async function newTask(): Promise<string> {
  const task = { task_type: 'tea', prompt: 'a cup' };
  return (await rest(kiln.url, 'POST', '/api/task/create/task', task)).body.data;
}
const nothing = async (): Promise<Sent> => ({ params: {}, body: null });
const task = async (): Promise<Sent> => ({ params: {}, body: { task_type: 'chop', prompt: 'a knife' } });
const file = async (): Promise<Sent> => ({ params: {}, body: { file: picture() } });

/** A sound request of every operation that is served, and what of its answer says so. */
const sound: Readonly<Record<string, readonly [() => Promise<Sent>, object]>> = {
  'GET /': [nothing, { status: true, data: { name: 'Kiln', version: expect.any(String) } }],
  'POST /api/file/upload': [file, { status: true, data: expect.stringContaining('/files/') }],
  'POST /api/file/upload/s3': [file, { status: true, extra: { bytes: 20, content_type: 'text/plain' } }],
  'GET /api/file/health': [nothing, { status: true, data: { service: 'media', checks: { database: 'ok' } } }],
  'GET /api/template/default': [nothing, { status: true, page: 1, page_size: 100, total_pages: 1 }],
  'GET /api/template/check/task_type': [
    async () => ({ params: { task_type: 'free' }, body: null }),
    { status: true, data: { task_type: 'free', available: true } },
  ],
  'POST /api/template/create': [
    async () => ({ params: {}, body: { task_type: `sound-${Math.random()}` } }),
    { status: true, data: { id: expect.any(Number), prompt: null, presetPrompts: '' } },
  ],
  'PUT /api/template/update': [
    async () => ({ params: {}, body: { id: await newTemplate(), prompt: 'ink' } }),
    { status: true, data: { prompt: 'ink' } },
  ],
  'DELETE /api/template/delete/{template_id}': [
    async () => ({ params: { template_id: await newTemplate() }, body: null }),
    { status: true, data: { deleted: true } },
  ],
  'POST /api/task/create/task': [task, { status: true, data: expect.any(String) }],
  'POST /api/task/create/task/v2': [task, { status: true, data: expect.any(String) }],
  'GET /api/task/status/{task_id}': [
    async () => ({ params: { task_id: await newTask() }, body: null }),
    { msg: expect.any(String) },
  ],
  'GET /api/task/health': [nothing, { status: true, data: { service: 'media' } }],
  'POST /api/agg/imga/sync/image': [
    async () => ({ params: { prompt: 'a boat' }, body: null }),
    { status: true, data: { urls: [expect.stringMatching(/\/result-1\.png$/)] }, msg: 'finished' },
  ],
  'GET /api/prompt/default': [nothing, { status: true, data: { task_type: 'tea' } }],
  'GET /api/prompt/health': [nothing, { status: true, data: { service: 'media' } }],
};

const keyOf = ({ method, path }: Documented): string => `${method} ${path}`;
const operations = documented
  .filter((operation) => keyOf(operation) in sound)
  .map((operation) => [keyOf(operation), operation] as const);

function soundRequest(operation: Documented): Promise<Sent> {
  const [make] = sound[keyOf(operation)] ?? [nothing];
  return make();
}

async function send({ method, path, params, body }: Documented, sent: Sent): Promise<RestAnswer> {
  const query = new URLSearchParams();
  let target = path;
  for (const { name, in: place } of params) {
    const value = sent.params[name];
    if (value === undefined) continue;
    if (place === 'path') target = target.replace(`{${name}}`, encodeURIComponent(String(value)));
    else query.set(name, String(value));
  }
  const search = query.size === 0 ? '' : `?${query.toString()}`;
  return rest(kiln.url, method, `${target}${search}`, bodyOf(body?.type, sent.body));
}

function bodyOf(type: string | undefined, body: Sent['body']): object | FormData | undefined {
  if (body === null) return undefined;
  if (type === 'application/json') return body;
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.set(name, value);
  return form;
}

/** Everything a request to this operation can have wrong by itself: what to send, and the problem that it is. */
function mistakes(operation: Documented): [string, (sent: Sent) => Sent, object][] {
  const { params, body } = operation;
  const inQuery = params.flatMap((field): [string, (sent: Sent) => Sent, object][] => {
    const change = (value: unknown) => (sent: Sent) => ({
      ...sent,
      params: { ...sent.params, [field.name]: value as string | number | undefined },
    });
    const loc = [field.in, field.name];
    return [
      // A part of the path can not be missing: that is another path.
      ...(field.required && field.in === 'query' ? [missing(field, loc, change(undefined))] : []),
      ...wrongValues(field, loc, change, field.type === 'integer' ? 'many' : null),
    ];
  });
  const inBody = (body?.fields ?? []).flatMap((field): [string, (sent: Sent) => Sent, object][] => {
    const change = (value: unknown) => (sent: Sent) => {
      const { [field.name]: _old, ...rest } = sent.body ?? {};
      return { ...sent, body: value === undefined ? rest : { ...rest, [field.name]: value } };
    };
    const loc = ['body', field.name];
    const isJson = body?.type === 'application/json';
    const unfit = isJson ? (field.type === 'integer' ? 'many' : 7) : field.type === 'file' ? 'text' : null;
    return [
      ...(field.required ? [missing(field, loc, change(undefined))] : []),
      ...wrongValues(field, loc, change, unfit),
    ];
  });
  const noBody: [string, (sent: Sent) => Sent, object][] =
    body?.required === true
      ? [
          [
            'no body',
            (sent) => ({ ...sent, body: null }),
            { type: 'missing', loc: expect.arrayContaining(['body']) },
          ],
        ]
      : [];
  return [...inQuery, ...inBody, ...noBody];
}

type Change = (value: unknown) => (sent: Sent) => Sent;

function missing(
  { name }: Field,
  loc: readonly unknown[],
  change: (sent: Sent) => Sent,
): [string, (sent: Sent) => Sent, object] {
  return [`without ${name}`, change, { loc, type: 'missing' }];
}

/** `unfit` is a value of the wrong type; null when every text fits. */
function wrongValues(
  { name, minimum, maximum, enum: allowed, type }: Field,
  loc: readonly unknown[],
  change: Change,
  unfit: unknown,
): [string, (sent: Sent) => Sent, object][] {
  const ofType = type === 'integer' ? 'int_parsing' : type === 'file' ? 'value_error' : 'string_type';
  return [
    ...(unfit === null || allowed !== undefined
      ? []
      : [[`${name} of a wrong type`, change(unfit), { loc, type: ofType }] as const]),
    ...(minimum === undefined
      ? []
      : [[`${name} too small`, change(minimum - 1), { loc, type: 'greater_than_equal' }] as const]),
    ...(maximum === undefined
      ? []
      : [[`${name} too large`, change(maximum + 1), { loc, type: 'less_than_equal' }] as const]),
    ...(allowed === undefined
      ? []
      : [[`${name} that is not allowed`, change('coffee'), { loc, type: 'literal_error' }] as const]),
  ].map(([title, apply, problem]) => [title, apply, problem]);
}

describe.each(operations)('%s', (key, operation) => {
  it('answers a sound request, and says what is left of the rate', async () => {
    const { status, body, headers } = await send(operation, await soundRequest(operation));
    expect([status, body]).toEqual([200, expect.objectContaining({ status: expect.anything() })]);
    expect(body).toMatchObject(sound[key]?.[1] ?? {});
    expect(Number(headers.get('x-ratelimit-limit'))).toBe(50_000);
    expect(Number(headers.get('x-ratelimit-remaining'))).toBeLessThan(50_000);
    expect(Number(headers.get('x-ratelimit-reset'))).toBeGreaterThan(Date.now() / 1_000 - 5);
    expect(headers.get('deprecation')).toBe(operation.deprecated ? '@1735689600' : null);
  });

  const cases = mistakes(operation);
  if (cases.length === 0) return;
  it.each(cases)('refuses a request %s', async (_, spoil, problem) => {
    const { status, body } = await send(operation, spoil(await soundRequest(operation)));
    expect(status).toBe(422);
    expect(body).toEqual({ detail: expect.any(Array) });
    const found = body.detail.map(({ loc, type }: { loc: unknown; type: unknown }) => ({ loc, type }));
    expect(found).toContainEqual(problem);
    for (const { msg } of body.detail) expect(msg).toMatch(/\w/);
  });
});

it('serves all of the documented operations of this stage', () => {
  expect(operations).toHaveLength(16);
  expect(Object.keys(sound)).toHaveLength(16);
});

it('names every problem of a request in one 422 body', async () => {
  const query = 'page=&page_size=1001&page=0.5&unknown=1';
  const { status, body } = await rest(kiln.url, 'GET', `/api/template/default?${query}`);
  expect([status, body]).toEqual([
    422,
    {
      detail: [
        { loc: ['query', 'page'], msg: expect.stringContaining('integer'), type: 'int_parsing' },
        { loc: ['query', 'page_size'], msg: expect.stringContaining('1000'), type: 'less_than_equal' },
      ],
    },
  ]);
  const form = new FormData();
  form.set('img_file', 'a text');
  const image = await rest(
    kiln.url,
    'POST',
    '/api/agg/imga/sync/image?max_wait_time=x&poll_interval=1.5',
    form,
  );
  expect(
    image.body.detail.map(({ loc, type }: { loc: string[]; type: string }) => [loc.join('.'), type]),
  ).toEqual([
    ['query.prompt', 'missing'],
    ['query.max_wait_time', 'int_parsing'],
    ['query.poll_interval', 'int_parsing'],
    ['body.img_file', 'value_error'],
  ]);
});

describe('what does not exist', () => {
  it.each([
    ['GET', '/api/task/status/0199aaaa-0000-7000-8000-000000000000', undefined],
    ['GET', '/api/task/status/nonsense', undefined],
    ['DELETE', '/api/template/delete/999999', undefined],
    ['PUT', '/api/template/update', { id: 999_999, prompt: 'x' }],
    ['GET', '/api/prompt/default?task_type=none', undefined],
    [
      'POST',
      '/api/task/create/task',
      { task_type: 'tea', prompt: 'x', img_url: 'http://h/files/0199aaaa-0000-7000-8000-000000000000/a.png' },
    ],
  ])('%s %s is an application failure that says so', async (method, path, sent) => {
    const { status, body } = await rest(kiln.url, method, path, sent);
    expect([status, body]).toEqual([
      200,
      { status: false, data: null, msg: expect.stringMatching(/^no |exist/) },
    ]);
  });

  it('is 404 for a path and 405 for a method, with the envelope', async () => {
    const path = await rest(kiln.url, 'GET', '/api/nowhere');
    expect([path.status, path.body]).toMatchObject([404, { status: false, data: null, detail: 'Not Found' }]);
    const method = await rest(kiln.url, 'DELETE', '/api/task/create/task');
    expect([method.status, method.headers.get('allow'), method.body]).toMatchObject([
      405,
      'POST',
      { status: false, data: null, detail: 'Method Not Allowed' },
    ]);
  });
});
