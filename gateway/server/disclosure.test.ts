import { afterEach, describe, expect, test } from 'vitest';

import { post, startTestGateway, type TestGateway } from './server-under-test.fixture.ts';

let gateway: TestGateway;
afterEach(() => gateway.close());

/** What a server tells about itself, its schema and its objects to whoever looks. */

const TASK = '01999c1e-6c0e-7d3a-9a52-0f3f2c9f5b1e';

async function open(options: Parameters<typeof startTestGateway>[0] = {}): Promise<void> {
  gateway = await startTestGateway(options);
}

async function get(path: string): Promise<Response & { page: string }> {
  const response = await fetch(`${gateway.url}${path}`, { headers: { accept: 'text/html' } });
  return Object.assign(response, { page: await response.text() });
}

const readMessage = async (query: string, variables?: object) =>
  (await post(gateway, { query, variables })).body.errors?.[0]?.message;

describe('production', () => {
  test('suggests no names of the schema', async () => {
    await open({ production: true });
    expect(await readMessage('{ helo }')).toBe('Cannot query field "helo" on type "Query".');
    expect(await readMessage('{ task(idd: "1") { id } }')).toBe(
      'Unknown argument "idd" on field "Query.task".',
    );
  });

  test('has no explorer, as it has no introspection', async () => {
    await open({ production: true });
    expect((await get('/explorer/')).status).toBe(404);
    expect(await readMessage('{ __schema { queryType { name } } }')).toContain('introspection');
  });
});

test('development suggests names, and has the explorer', async () => {
  await open();
  expect(await readMessage('{ helo }')).toContain('Did you mean "hello"?');
  expect((await get('/explorer/')).status).toBe(200);
});

test.each([true, false])(
  'the page at /graphql runs no foreign script (production: %s)',
  async (production) => {
    await open({ production });
    const { headers, page } = await get('/graphql');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/script-src[^;]*'unsafe-inline'/);
    expect(policy).toContain(production ? "script-src 'none'" : "script-src 'sha256-");
    expect(page).not.toMatch(/ on\w+=/);
  },
);

test('browsers are told to stay with https where PUBLIC_URL is https', async () => {
  await open({ publicUrl: 'https://kiln.example.com' });
  expect((await get('/healthz')).headers.get('strict-transport-security')).toBe('max-age=31536000');
  await gateway.close();
  await open({ publicUrl: 'http://kiln.example.com' });
  expect((await get('/healthz')).headers.get('strict-transport-security')).toBeNull();
});

test('ids stay out of the log', async () => {
  await open();
  await get(`/files/${TASK}/a.png`);
  await get(`/api/task/status/${TASK.replaceAll('-', '')}`);
  await get('/users/usr_0123456789abcdef');
  const lines = gateway.lines.filter((line) => line.includes('"request"'));
  expect(lines.length).toBeGreaterThanOrEqual(3);
  expect(lines.join('')).toContain('/files/:id/a.png');
  expect(gateway.lines.join('')).not.toMatch(/01999c1e|usr_0123/);
});
