import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { documentedFacts, openApiFacts } from '../documented-operations/comparison/facts.ts';
import { documented, toKey, type Documented } from '../documented-operations/documents/operation.ts';
import { listMistakes } from '../documented-operations/requests/invalid-requests.ts';
import { liveServer, type LiveServer } from '../documented-operations/requests/live-server.ts';
import { makeForm } from '../documented-operations/requests/samples.ts';
import { send, type Answer } from '../documented-operations/requests/send.ts';
import { findValidRequest, validRequest } from '../documented-operations/requests/valid-requests.ts';
import { listVariations } from '../documented-operations/requests/variations.ts';
import { lacking } from '../documented-operations/responses/data-words.ts';
import {
  envelopeOfWorkflow,
  makeRefusal,
  tellsSuccess,
} from '../documented-operations/responses/refusals.ts';
import { createAnswerCheck, type AnswerCheck } from '../documented-operations/responses/response-schemas.ts';
import { rest } from '../kit/clients/requests.ts';
import { takeSample } from '../kit/extent.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/**
 * Every documented operation over one live server: a sound request each, and everything its inputs can have wrong, one
 * mistake at a time. All of it follows from test/documented-operations.json.
 */

let kiln: KilnUnderTest;
let world: LiveServer;
let findProblems: AnswerCheck;
beforeAll(async () => {
  kiln = await startKiln({
    isQuick: true,
    settings: { RATE_LIMIT: 'status=50000,read=50000,start=50000,write=50000,sign-in=50000' },
  });
  world = liveServer(kiln.url, validRequest);
  findProblems = await createAnswerCheck(kiln.url);
});
afterAll(() => kiln?.close());

const named = documented.map((operation) => [toKey(operation), operation] as const);

const something: unknown = expect.any(Object);

/** The whole answer to a sound request. */
function soundBody(operation: Documented): unknown {
  const { status: code = 200, answer } = findValidRequest(operation);
  if (operation.service === 'media') return answer;
  const success = tellsSuccess(operation) ? { success: true } : {};
  return { ...success, code, message: expect.stringMatching(/\w/), data: answer, ...envelopeOfWorkflow };
}

/** What the data of an answer lacks of what is documented; the media service's documents show none. */
function lackingIn({ data }: Documented, { body }: Answer): readonly string[] {
  return data === undefined ? [] : lacking(data, body.data);
}

const started = Date.now();

describe('a sound request', () => {
  it.concurrent.each(named)('%s', async (key, operation) => {
    const answer = await world.once(key);
    expect([answer.status, answer.body]).toEqual([
      findValidRequest(operation).status ?? 200,
      soundBody(operation),
    ]);
    expect([...lackingIn(operation, answer), ...findProblems(operation, answer)]).toEqual([]);
    const { headers } = answer;
    expect(Number(headers.get('x-ratelimit-limit'))).toBe(50_000);
    expect(Number(headers.get('x-ratelimit-remaining'))).toBeLessThan(50_000);
    // Told when the request came in, which for a slow operation is long ago.
    expect(Number(headers.get('x-ratelimit-reset'))).toBeGreaterThan(started / 1_000 - 1);
    expect(headers.get('deprecation')).toBe(operation.deprecated ? '@1735689600' : null);
  });
});

const mistakes = named.flatMap(([key, operation]) =>
  listMistakes(operation).map((mistake) => [key, mistake.title, operation, mistake] as const),
);

describe('a request that has wrong', () => {
  it.concurrent.each(takeSample(mistakes, 8))('%s: %s', async (_key, _title, operation, { spoil, wrong }) => {
    const { status, body } = await send(kiln.url, operation, spoil(makeForm(operation)));
    expect([status, body]).toEqual(makeRefusal(operation, wrong));
    expect(findProblems(operation, { status, body })).toEqual([]);
  });
});

const variations = named.flatMap(([key, operation]) =>
  listVariations(operation).map((variation) => [key, variation.title, operation, variation] as const),
);

/** What of these words an answer does not say. */
function unsaid(words: readonly string[], { body }: Answer): readonly string[] {
  return words.filter((word) => !String(body.msg ?? body.message).includes(word));
}

describe('a request with', () => {
  it.concurrent.each(takeSample(variations, 8))('%s: %s', async (_key, _title, operation, variation) => {
    const answer = await send(kiln.url, operation, await variation.request(world));
    const { fails = false, says = [], isAsSound = false } = variation.end;
    const { status = 200 } = findValidRequest(operation);
    const body = isAsSound ? soundBody(operation) : something;
    // Only the media service answers failures with 200.
    expect([answer.status, answer.body, answer.body.status === false, unsaid(says, answer)]).toEqual([
      status,
      body,
      fails,
      [],
    ]);
    expect(findProblems(operation, answer)).toEqual([]);
  });
});

/** How many cases there are of each kind. */
function countKinds(cases: readonly (readonly [unknown, unknown, unknown, { readonly kind: string }])[]) {
  const counts: Record<string, number> = {};
  for (const [, , , { kind }] of cases) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

describe('the OpenAPI document that is served', () => {
  it.each([
    ['media', '/openapi.json'],
    ['workflow', '/openapi-workflow.json'],
  ] as const)('of the %s service says what is documented', async (service, path) => {
    const { body } = await rest(kiln.url, 'GET', path);
    const own = documented.filter((operation) => operation.service === service);
    expect(openApiFacts(service, body)).toEqual(documentedFacts(own));
  });
});

describe('these cases', () => {
  it('see what an OpenAPI document does not tell', () => {
    const [, root] = named[0] ?? [];
    const body = { status: true, data: 7, msg: 'x' };
    expect(root && findProblems(root, { status: 200, body })).toEqual([expect.stringMatching(/^data: /)]);
    expect(root && findProblems(root, { status: 418, body })).toEqual(['418 is told nowhere']);
  });

  it('are about every operation, and about everything that an input can have wrong', () => {
    expect(named).toHaveLength(126);
    expect(countKinds(mistakes)).toEqual({
      missing: 86,
      type: 535,
      bound: 3,
      enum: 14,
      body: 112,
      twice: 11,
    });
    expect(countKinds(variations)).toEqual({
      default: 19,
      allowed: 22,
      known: 13,
      group: 46,
      format: 3,
      everything: 65,
    });
  });

  it('miss no input', () => {
    const missed = documented.flatMap((operation) => {
      const tried = listMistakes(operation).map(({ kind, wrong }) => `${kind} ${wrong[0]?.loc.join('.')}`);
      return [...operation.params, ...(operation.body?.fields ?? [])].flatMap((field) => {
        const { in: place = 'body', name, required, minimum, maximum, enum: allowed } = field;
        const needed = [
          allowed === undefined ? 'type' : 'enum',
          ...(required && place !== 'path' ? ['missing'] : []),
          ...(minimum === undefined && maximum === undefined ? [] : ['bound']),
        ];
        return needed
          .map((kind) => `${kind} ${place}.${name}`)
          .filter((one) => !tried.includes(one))
          .map((one) => `${toKey(operation)}: ${one}`);
      });
    });
    expect(missed).toEqual([]);
  });
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
      ignored: ['unknown'],
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
