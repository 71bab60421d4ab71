import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { AppError, type AppErrorCode } from '../platform/errors.ts';
import { startRestServer, type RestServer } from './fixtures/rest-server.ts';
import { output } from './fixtures/tasks-in-memory.ts';
import { failureFacts, mediaFailures, workflowFailures } from './replies/failures.ts';

let server: RestServer;
beforeAll(async () => {
  server = await startRestServer();
});
beforeEach(() => server.media.failWith(null));
afterAll(() => server.close());

const unknownId = '00000000-0000-7000-8000-000000000000';

function lastAsked() {
  return server.media.requests.at(-1);
}

async function submit(): Promise<string> {
  const { body } = await server.send('POST', '/api/task/create/task', {
    json: { task_type: 'tea', prompt: 'a cup' },
  });
  return String(body['data']);
}

describe('task management', () => {
  it('answers a submission with the id of the task at once', async () => {
    const json = { task_type: 'vlog', prompt: 'a day', image_url: 'https://example.com/a.png', extra: 1 };
    for (const path of ['/api/task/create/task', '/api/task/create/task/v2']) {
      const { status, body } = await server.send('POST', path, { json });
      expect(status).toBe(200);
      expect(body).toEqual({
        status: true,
        data: expect.stringMatching(/^[0-9a-f-]{36}$/),
        msg: 'task submitted (ignored: extra)',
      });
      expect(lastAsked()?.variables).toEqual({
        taskType: 'vlog',
        prompt: 'a day',
        image: { url: 'https://example.com/a.png' },
        aspectRatio: '9:16',
      });
    }
  });

  it('passes the Idempotency-Key header on, and ignores an empty one', async () => {
    const json = { task_type: 'tea', prompt: 'a cup' };
    await server.send('POST', '/api/task/create/task', { json, headers: { 'Idempotency-Key': 'k-1' } });
    expect(lastAsked()?.variables).toMatchObject({ idempotencyKey: 'k-1' });
    await server.send('POST', '/api/task/create/task', { json, headers: { 'Idempotency-Key': '' } });
    expect(lastAsked()?.variables).not.toHaveProperty('idempotencyKey');
  });

  it('tells queued and running by the name of the state, with the stage in words', async () => {
    const id = await submit();
    const queued = await server.send('GET', `/api/task/status/${id}`);
    expect(queued.body).toEqual({
      status: 'queued',
      data: { task_id: id, state: 'queued', stage: 'queued', progress: 0, queue_position: 1 },
      msg: 'queued',
    });
    server.media.tasks.change(id, {
      state: 'RUNNING',
      stage: 'rendering',
      progress: 40,
      queuePosition: null,
    });
    const running = await server.send('GET', `/api/task/status/${id}`);
    expect(running.body).toEqual({
      status: 'running',
      data: { task_id: id, state: 'running', stage: 'rendering', progress: 40, queue_position: null },
      msg: 'rendering',
    });
  });

  it('gives every output of a finished task, measured', async () => {
    const id = await submit();
    const outputs = [output, { ...output, url: 'http://kiln.test/files/2/b.png' }];
    server.media.tasks.change(id, { state: 'SUCCEEDED', stage: 'finished', outputs });
    const { body } = await server.send('GET', `/api/task/status/${id}`);
    const facts = {
      content_type: 'image/png',
      bytes: 10,
      sha256: 'ab',
      width: 9,
      height: 16,
      duration: null,
    };
    expect(body).toEqual({
      status: true,
      data: {
        task_id: id,
        provider: 'midjourney',
        model: 'midjourney',
        url: output.url,
        urls: [output.url, 'http://kiln.test/files/2/b.png'],
        media: [
          { url: output.url, ...facts },
          { url: 'http://kiln.test/files/2/b.png', ...facts },
        ],
      },
      msg: 'finished',
    });
  });

  it('gives prompts when the task was a description', async () => {
    const id = await submit();
    const result = { __typename: 'Description', prompts: ['a cup', 'tea'] } as const;
    server.media.tasks.change(id, { state: 'SUCCEEDED', stage: 'finished', text: 'a cup', result });
    const { body } = await server.send('GET', `/api/task/status/${id}`);
    expect(body['data']).toEqual({
      task_id: id,
      provider: 'midjourney',
      model: 'midjourney',
      prompt: 'a cup',
      prompts: ['a cup', 'tea'],
    });
  });

  it('says in msg what is missing in a result', async () => {
    const id = await submit();
    const notes = ['the video is missing: no generator makes one'];
    server.media.tasks.change(id, { state: 'SUCCEEDED', stage: 'finished', notes });
    const { body } = await server.send('GET', `/api/task/status/${id}`);
    expect(body['msg']).toBe('finished; the video is missing: no generator makes one');
  });

  it('tells failed and cancelled with status false and a code', async () => {
    const id = await submit();
    const error = { code: 'MODERATION_REFUSED', message: 'refused', retryable: false } as const;
    server.media.tasks.change(id, { state: 'FAILED', error });
    expect((await server.send('GET', `/api/task/status/${id}`)).body).toEqual({
      status: false,
      data: { task_id: id, error: { ...error, code: 'moderation_refused' } },
      msg: 'refused',
    });
    server.media.tasks.change(id, { state: 'CANCELLED', error: null });
    expect((await server.send('GET', `/api/task/status/${id}`)).body).toMatchObject({
      status: false,
      data: { task_id: id, error: { code: 'cancelled', retryable: false } },
    });
  });

  it('answers an unknown task and an empty prompt as application failures', async () => {
    const unknown = await server.send('GET', `/api/task/status/${unknownId}`);
    expect(unknown).toMatchObject({
      status: 200,
      body: { status: false, data: null, msg: expect.stringContaining('no task') },
    });
    const empty = await server.send('POST', '/api/task/create/task', {
      json: { task_type: 'tea', prompt: '' },
    });
    expect(empty).toMatchObject({ status: 200, body: { status: false, data: null } });
  });
});

describe('the template catalog', () => {
  it('keeps what it does not know and answers the whole template', async () => {
    const sent = {
      id: 99,
      task_type: 'soup',
      prompt: 'a soup',
      title_zh: '汤',
      title_en: null,
      presetPrompts: 'one\ntwo',
      category: '美食',
      nested: { deep: [1, null] },
    };
    const created = await server.send('POST', '/api/template/create', { json: sent });
    const template = created.body['data'] as { id: number };
    expect(created.body).toMatchObject({ status: true, data: { ...sent, id: expect.any(Number) as number } });
    expect(template.id).not.toBe(99);
    expect(template).toMatchObject({ cover_url: null, description: null, engine: null, aspect_ratio: null });

    const json = { id: template.id, cover_url: 'https://example.com/c.png', mood: 'calm' };
    const updated = await server.send('PUT', '/api/template/update', { json });
    expect(updated.body['data']).toEqual({
      ...template,
      cover_url: 'https://example.com/c.png',
      mood: 'calm',
    });

    const byCategory = await server.send(
      'GET',
      `/api/template/default?category=${encodeURIComponent('美食')}`,
    );
    expect(byCategory.body).toMatchObject({ total: 1, data: [{ id: template.id }] });
    const removed = await server.send('DELETE', `/api/template/delete/${template.id}`);
    expect(removed.body).toMatchObject({ status: true, data: { id: template.id, deleted: true } });
    const again = await server.send('DELETE', `/api/template/delete/${template.id}.0`);
    expect(again).toMatchObject({ status: 200, body: { status: false, data: null } });
  });

  it('answers a page with exactly the documented keys, also past the end', async () => {
    const all = await server.send('GET', '/api/template/default');
    expect(Object.keys(all.body)).toEqual(['status', 'data', 'page', 'page_size', 'total', 'total_pages']);
    expect(all.body).toMatchObject({ status: true, page: 1, page_size: 100, total: 2, total_pages: 1 });
    const past = await server.send('GET', '/api/template/default?page=9999999999&page_size=1');
    expect(past.body).toMatchObject({ data: [], page: 9999999999, page_size: 1, total: 2, total_pages: 2 });
    const none = await server.send('GET', '/api/template/default?task_type=nobody');
    expect(none.body).toMatchObject({ data: [], total: 0, total_pages: 0 });
    const every = await server.send('GET', `/api/template/default?category=${encodeURIComponent('全部')}`);
    expect(every.body).toMatchObject({ total: 2 });
  });

  it('tells whether a task type is available', async () => {
    const taken = await server.send('GET', '/api/template/check/task_type?task_type=tea');
    expect(taken.body).toMatchObject({ status: true, data: { task_type: 'tea', available: false } });
    const free = await server.send('GET', '/api/template/check/task_type?task_type=tea&task_type=new');
    expect(free.body).toMatchObject({ data: { task_type: 'new', available: true } });
  });
});

describe('root, health and prompt helper', () => {
  it('answers the root in JSON, for browsers too', async () => {
    const { body, headers } = await server.send('GET', '/', { headers: { accept: 'text/html' } });
    expect(headers.get('content-type')).toContain('application/json');
    expect(body).toMatchObject({
      status: true,
      data: { name: 'Kiln', docs: 'http://kiln.test/docs', graphql: 'http://kiln.test/graphql' },
    });
  });

  it('answers every health operation with the health of the service', async () => {
    for (const path of ['/api/file/health', '/api/task/health', '/api/prompt/health']) {
      const { status, body } = await server.send('GET', path);
      expect(status).toBe(200);
      expect(body).toMatchObject({ status: true, data: { service: 'media', checks: { database: 'ok' } } });
    }
  });

  it('is not well where its section can do nothing without what is away', async () => {
    server.media.checks['files'] = 'unavailable';
    const [files, tasks] = [
      await server.send('GET', '/api/file/health'),
      await server.send('GET', '/api/task/health'),
    ];
    delete server.media.checks['files'];
    expect(files).toMatchObject({ status: 200, body: { status: false, msg: 'not available now: files' } });
    expect(tasks).toMatchObject({ status: 200, body: { status: true } });
  });

  it('speaks of the generators of its own section', async () => {
    const { body } = await server.send('GET', '/api/vidb/health');
    expect(body).toMatchObject({ status: true, data: { checks: { database: 'ok', vidb: 'sandbox' } } });
    for (const path of ['/api/imga/health', '/api/imga/video/health']) {
      const { status, body: away } = await server.send('GET', path);
      expect([status, away['status'], away['msg']]).toEqual([200, false, 'not available here: imga']);
      expect(away['data']).toMatchObject({ checks: { database: 'ok', imga: 'not available' } });
    }
  });

  it('gives the sample prompt of a task type, else of the first one', async () => {
    const chop = await server.send('GET', '/api/prompt/default?task_type=chop');
    expect(chop.body).toMatchObject({ status: true, data: { task_type: 'chop', prompt: 'a chop' } });
    const first = await server.send('GET', '/api/prompt/default');
    expect(first.body).toMatchObject({ data: { task_type: 'tea', prompt: 'a tea' } });
    const unknown = await server.send('GET', '/api/prompt/default?task_type=nobody');
    expect(unknown).toMatchObject({ status: 200, body: { status: false, data: null } });
  });
});

describe('around the routes', () => {
  it('marks deprecated operations and leaves others alone', async () => {
    const old = await server.send('GET', '/api/prompt/health');
    expect(old.headers.get('deprecation')).toMatch(/^@\d+$/);
    expect(old.headers.get('link')).toContain('rel="deprecation"');
    expect(old.headers.get('sunset')).toBeNull();
    const current = await server.send('GET', '/api/task/health');
    expect(current.headers.get('deprecation')).toBeNull();
  });

  it('takes HEAD for GET, and a trailing slash', async () => {
    const head = await server.send('HEAD', '/api/task/health/');
    expect(head.status).toBe(200);
    expect(head.body).toEqual({});
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(50);
  });

  it('says 405 and what is allowed for another method, and leaves unknown paths to the server', async () => {
    const wrong = await server.send('GET', '/api/task/create/task');
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get('allow')).toBe('POST');
    expect(wrong.body).toMatchObject({ status: false, data: null, detail: 'Method Not Allowed' });
    expect((await server.send('GET', '/api/unknown')).status).toBe(404);
    const page = await server.send('POST', '/openapi.json');
    expect([page.status, page.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('serves the OpenAPI document with its own address, and a page that asks nobody else', async () => {
    const document = await server.send('GET', '/openapi.json');
    expect(document.body).toMatchObject({
      openapi: '3.1.0',
      info: { version: '1.0.6' },
      servers: [{ url: 'http://kiln.test' }],
    });
    const html = await (await fetch(`${server.url}/docs`)).text();
    const page = html.replace(/<script>[^]*?<\/script>/, '');
    expect(page).toContain('/api/task/status/{task_id}');
    // Addresses stand in examples alone, as text; whatever is followed leads to this server.
    expect(page).not.toMatch(
      /<script [^>]*src|<link|<img|<iframe|src=|@import|url\(|href="(?:[a-z]+:|\/\/)/i,
    );
  });

  it.each(['/docs', '/docs/workflow'])(
    'lets nothing be loaded by %s, even if it were asked to',
    async (path) => {
      const { headers } = await fetch(`${server.url}${path}`);
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-[^']+'; connect-src 'self'; base-uri 'none';/,
      );
    },
  );

  it.each([
    ['UNAUTHENTICATED', 401, ['www-authenticate']],
    ['FORBIDDEN', 403, []],
    ['IDEMPOTENCY_CONFLICT', 409, []],
    ['PAYLOAD_TOO_LARGE', 413, []],
    ['RATE_LIMITED', 429, ['retry-after']],
    ['QUEUE_FULL', 503, ['retry-after']],
    ['UNAVAILABLE', 503, ['retry-after']],
    ['CONFLICT', 200, []],
    ['NOT_CONFIGURED', 200, []],
  ] as const)('answers %s with HTTP %i and the envelope', async (code, expected, expectedHeaders) => {
    server.media.failWith(new AppError(code, 'what to do'));
    const json = { task_type: 'tea', prompt: 'a cup' };
    const { status, body, headers } = await server.send('POST', '/api/task/create/task', { json });
    expect(status).toBe(expected);
    expect(body).toEqual({ status: false, data: null, msg: 'what to do' });
    expect(['www-authenticate', 'retry-after'].filter((name) => headers.has(name))).toEqual(expectedHeaders);
  });

  it('notes for the metrics which documented path was asked, whatever its parameters', async () => {
    await server.send('GET', `/api/task/status/${unknownId}`);
    expect(server.routes.at(-1)).toBe('/api/task/status/{task_id}');
    await server.send('GET', '/api/nothing');
    expect(server.routes.at(-1)).toBeUndefined();
  });

  it('masks what nobody expected, names the trace and logs it', async () => {
    server.media.failWith(new Error('password=hunter2'));
    const { status, body, headers } = await server.send('GET', '/api/task/health');
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain('hunter2');
    expect(body['msg']).toContain(headers.get('x-trace-id'));
    expect(server.errors).toHaveLength(1);
  });
});

describe('rate limits', () => {
  it('tells the limit on every answer, and refuses with Retry-After', async () => {
    const taken: string[] = [];
    const limited = await startRestServer({
      rateLimiter: {
        take: (_caller, rateClass) => {
          taken.push(rateClass);
          const allowed = taken.length < 4;
          return { allowed, limit: 3, remaining: 3 - taken.length, resetSeconds: 1800000000, retryAfter: 7 };
        },
        refuseStart: () => ({
          allowed: true,
          limit: 9,
          remaining: 8,
          resetSeconds: 1800000000,
          retryAfter: 0,
        }),
      },
    });
    try {
      await limited.send('GET', `/api/task/status/${unknownId}`);
      await limited.send('GET', '/api/template/default?page=0');
      const wrong = await limited.send('PATCH', '/api/template/default');
      expect(wrong.headers.get('x-ratelimit-remaining')).toBe('0');
      const refused = await limited.send('POST', '/api/task/create/task', { json: {} });
      expect(refused.status).toBe(429);
      expect(refused.body).toMatchObject({ status: false, data: null });
      expect(refused.headers.get('retry-after')).toBe('7');
      expect(refused.headers.get('x-ratelimit-limit')).toBe('3');
      expect(refused.headers.get('x-ratelimit-reset')).toBe('1800000000');
      expect(taken).toEqual(['status', 'read', 'read', 'start']);
    } finally {
      await limited.close();
    }
  });
});

describe('a failure', () => {
  it.each([
    ['UNAUTHENTICATED', 401, 401],
    ['FORBIDDEN', 403, 403],
    ['IDEMPOTENCY_CONFLICT', 409, 409],
    ['PAYLOAD_TOO_LARGE', 413, 413],
    ['RATE_LIMITED', 429, 429],
    ['BUDGET_EXCEEDED', 429, 429],
    ['QUEUE_FULL', 503, 503],
    ['UNAVAILABLE', 503, 503],
    ['BAD_USER_INPUT', 200, 400],
    ['NOT_FOUND', 200, 404],
    ['CONFLICT', 200, 400],
    ['NOT_CONFIGURED', 200, 503],
    ['MODEL_RETIRED', 200, 410],
    ['NOT_INSTALLED', 200, 409],
    ['TOO_LATE', 200, 409],
    ['EVENTS_EXPIRED', 200, 404],
  ] as const)('%s has the status %i of media, and %i of workflow', (code: AppErrorCode, media, workflow) => {
    const thrown = new AppError(code, 'why');
    const found = [mediaFailures, workflowFailures].map((rules) => failureFacts(thrown, 't', rules));
    expect(found.map(({ status, unexpected }) => [status, unexpected])).toEqual([
      [media, false],
      [workflow, false],
    ]);
  });

  it('says when to come again, in whole seconds and at least one, and 5 where nobody knows', () => {
    const headers = (code: AppErrorCode, more: object = {}) =>
      failureFacts(new AppError(code, 'why', more), 't', workflowFailures).headers;
    expect(headers('UNAVAILABLE', { retryAfter: 1.2 })).toEqual({ 'Retry-After': '2' });
    expect(headers('RATE_LIMITED', { retryAfter: 0 })).toEqual({ 'Retry-After': '1' });
    expect(headers('QUEUE_FULL')).toEqual({ 'Retry-After': '5' });
    expect(headers('NOT_CONFIGURED')).toEqual({});
    expect(headers('NOT_FOUND')).toEqual({});
    expect(headers('UNAUTHENTICATED')).toEqual({ 'WWW-Authenticate': 'Bearer' });
  });

  it('that nobody foresaw is masked, and one that names a field is about that', () => {
    for (const thrown of [new Error('secret'), new AppError('INTERNAL', 'secret')]) {
      expect(failureFacts(thrown, 't-1', mediaFailures)).toEqual({
        status: 500,
        msg: 'internal error; the log has it under trace t-1',
        headers: {},
        problems: [],
        unexpected: true,
      });
    }
    const problems = (more: object) =>
      failureFacts(new AppError('BAD_USER_INPUT', 'why', more), 't', workflowFailures).problems;
    expect(problems({ field: 'a' })).toEqual([{ field: 'a', message: 'why' }]);
    const both = [
      { field: 'a', message: '1' },
      { field: 'b', message: '2' },
    ];
    expect(problems({ field: 'a', problems: both })).toEqual(both);
    expect(problems({})).toEqual([]);
  });
});
