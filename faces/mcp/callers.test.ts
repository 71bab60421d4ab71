import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';

import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { listenOn } from '../../platform/http/server.ts';
import { graphql } from '../../test/kit/clients/requests.ts';
import { type KilnUnderTest, startKiln } from '../../test/kit/kiln.ts';
import { call, connect, rpc } from './mcp-client.fixture.ts';

/** Who may call: as everywhere, service keys with their scopes, generators, rates and budgets. */

const SECRET = 'secret-of-the-operator';
const operator = { authorization: `Bearer ${SECRET}` };

let kiln: KilnUnderTest;
let provider: Server;
let issuer: string;
let keys: Awaited<ReturnType<typeof generateKeyPair>>;
beforeAll(async () => {
  keys = await generateKeyPair('RS256');
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'RS256' }] });
  provider = createServer((_request, response) => response.end(jwks));
  issuer = (await listenOn(provider, '127.0.0.1', 0)).url;
  const sha256 = createHash('sha256').update(SECRET).digest('hex');
  kiln = await startKiln({
    settings: {
      REST_AUTH: 'required',
      SERVICE_KEYS: `operator=${sha256}`,
      RATE_LIMIT: 'start=3',
      FILES_URL_TTL: '3600',
      IDP_ISSUER: issuer,
      IDP_CLIENT_ID: 'kiln',
      IDP_JWKS: `${issuer}/keys`,
    },
  });
});
afterAll(async () => {
  await kiln.close();
  provider.close();
});

/** A new service key, and its headers. */
async function keyWith(scopes: readonly string[], generators?: readonly string[]) {
  const { data } = await graphql(
    kiln.url,
    `
      mutation ($scopes: [String!]!, $generators: [String!]) {
        createServiceKey(name: "of a test", scopes: $scopes, generators: $generators) {
          secret
          key {
            id
          }
        }
      }
    `,
    { scopes, generators },
    operator,
  );
  const { secret, key } = data.createServiceKey as { secret: string; key: { id: string } };
  return { id: key.id, headers: { authorization: `Bearer ${secret}` } };
}

it('sends who has no credential, or a wrong one, to the metadata that names who signs in', async () => {
  const address = `${kiln.url}/.well-known/oauth-protected-resource/mcp`;
  const nobody = await rpc(kiln.url, 'server/discover');
  expect(nobody.status).toBe(401);
  expect(nobody.headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${address}"`);
  const wrong = await rpc(
    kiln.url,
    'server/discover',
    {},
    { headers: { authorization: 'Bearer kiln_wrong' } },
  );
  expect(wrong.headers.get('www-authenticate')).toBe(
    `Bearer error="invalid_token", resource_metadata="${address}"`,
  );
  for (const path of [address, `${kiln.url}/.well-known/oauth-protected-resource`]) {
    expect(await (await fetch(path)).json()).toMatchObject({
      resource: `${kiln.url}/mcp`,
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
    });
  }
});

it('takes access tokens of the identity provider that are for it, as those of their person', async () => {
  const tokenFor = async (audience: string) => {
    const token = await new SignJWT({ sub: 'ada' })
      .setProtectedHeader({ alg: 'RS256', kid: 'one', typ: 'at+jwt' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setExpirationTime('1h')
      .sign(keys.privateKey);
    return { headers: { authorization: `Bearer ${token}` } };
  };
  const made = await call(
    kiln.url,
    'generate_image',
    { prompt: 'of ada' },
    await tokenFor(`${kiln.url}/mcp`),
  );
  expect(made.result.resultType).toBe('task');
  const { data } = await graphql(
    kiln.url,
    'query ($id: ID!) { task(id: $id) { owner } }',
    { id: made.result.taskId },
    operator,
  );
  expect(data.task.owner).toMatch(/^usr_/);
  expect((await rpc(kiln.url, 'tools/list', {}, await tokenFor('https://elsewhere.example'))).status).toBe(
    401,
  );
});

it('lets a key call what its scopes and generators allow, and see the models of those', async () => {
  const reader = await keyWith(['read']);
  const client = await connect(kiln.url, 'modern', reader.headers);
  const refused = await client.callTool({ name: 'generate_image', arguments: { prompt: 'a key' } });
  expect(refused.content).toEqual([{ type: 'text', text: expect.stringMatching(/^FORBIDDEN: .*start/) }]);
  await client.close();
  const starter = await keyWith(['start']);
  const unread = await call(kiln.url, 'generate_image', { prompt: 'not read' }, { headers: starter.headers });
  expect(unread.result.content[0].text).toMatch(/^FORBIDDEN: .*read/);
  const started = 'query { tasks(filter: { text: "not read" }) { totalCount } }';
  expect((await graphql(kiln.url, started, {}, operator)).data.tasks.totalCount).toBe(0);
  const maker = await keyWith(['read', 'start'], ['union']);
  const { result } = await rpc(kiln.url, 'tools/list', {}, { headers: maker.headers });
  const { model } = result.tools[0].inputSchema.properties;
  expect(model.enum.every((id: string) => id.startsWith('union:'))).toBe(true);
  const made = await call(kiln.url, 'generate_image', { prompt: 'a key' }, { headers: maker.headers });
  expect(made.result.resultType).toBe('task');
  const mine = await call(kiln.url, 'list_my_media', {}, { headers: reader.headers });
  expect(mine.result.structuredContent.total).toBe(0);
});

it('lists the files of its caller as resources and as links, and no others', async () => {
  const { headers } = await keyWith(['read', 'start'], ['union']);
  const caller = { headers, knowsTasks: false };
  const made = await call(kiln.url, 'generate_image', { prompt: 'a file of a key' }, caller);
  const [{ media_id: id, uri }] = made.result.structuredContent.outputs;
  const { result } = await rpc(kiln.url, 'resources/list', {}, caller);
  expect(result.resources).toMatchObject([{ uri: `kiln://media/${id}`, mimeType: 'image/png' }]);
  const mine = await call(kiln.url, 'list_my_media', { kind: 'IMAGE', text: 'of a key' }, caller);
  expect(mine.result.content[1].uri.split('?')[0]).toBe(uri.split('?')[0]);
  // The link in a result may be older than the address that the file has now.
  const earlier = `${uri.split('?')[0]}?exp=1&sig=earlier`;
  const read = await rpc(kiln.url, 'resources/read', { uri: earlier }, caller);
  expect(read.result?.contents[0]).toMatchObject({ mimeType: 'image/png' });
  const others = await call(kiln.url, 'list_my_media', { text: 'of nobody' }, caller);
  expect(others.result.structuredContent.media).toEqual([]);
  await call(kiln.url, 'generate_image', { prompt: 'a newer file' }, caller);
  const page = async (after?: string) =>
    (await call(kiln.url, 'list_my_media', { count: 1, after }, caller)).result;
  const first = await page();
  const { after, media } = first.structuredContent;
  expect(first.content[0].text).toBe(`1 of 2 file(s); more with after: ${after}`);
  const last = await page(after);
  expect(last.content[0].text).toBe('1 of 2 file(s)');
  expect([media[0].id, last.structuredContent]).toMatchObject([
    expect.not.stringMatching(id),
    { after: null, media: [{ id }] },
  ]);
});

it('counts starts against the rate of the caller, and refuses what a budget does not allow', async () => {
  const poor = await keyWith(['read', 'start']);
  const created = await graphql(
    kiln.url,
    'mutation ($key: String!) { createBudget(scope: KEY, subject: $key, input: { maxRunning: 0, period: DAY }) { id } }',
    { key: poor.id },
    operator,
  );
  expect(created.errors).toBeUndefined();
  const refused = await call(kiln.url, 'generate_image', { prompt: 'dear' }, { headers: poor.headers });
  expect(refused.result.content[0].text).toMatch(/^BUDGET_EXCEEDED/);
  const { headers } = await keyWith(['read', 'start']);
  const statuses: number[] = [];
  for (const prompt of ['1', '2', '3', '4']) {
    statuses.push((await call(kiln.url, 'generate_image', { prompt }, { headers })).status);
  }
  expect(statuses).toEqual([200, 200, 200, 429]);
  expect((await rpc(kiln.url, 'tools/list', {}, { headers })).status).toBe(200);
});

it('counts each start of a batch, as older clients send them', async () => {
  const { headers } = await keyWith(['read', 'start']);
  const batch = async (prompts: readonly string[]) => {
    const calls = prompts.map((prompt, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'generate_image', arguments: { prompt } },
    }));
    const accept = 'application/json, text/event-stream';
    const response = await fetch(`${kiln.url}/mcp`, {
      method: 'POST',
      headers: { ...headers, accept, 'content-type': 'application/json' },
      body: JSON.stringify(calls),
    });
    return [response.status, (await response.text()).match(/Task \S+ made/g)?.length ?? 0];
  };
  expect(await batch(['batch 1', 'batch 2'])).toEqual([200, 2]);
  expect(await batch(['batch 3', 'batch 4'])).toEqual([429, 0]);
});

it('counts what clients of OpenAI and Comfy start in the same way, and what was refused as a write', async () => {
  const { headers } = await keyWith(['read', 'start']);
  const post = async (path: string, body: object) => {
    const response = await fetch(`${kiln.url}${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const count = (name: string) => response.headers.get(`x-ratelimit-${name}-requests`);
    const code = ((await response.json()) as { error?: { code: string } | null }).error?.code ?? null;
    return [response.status, code, count('limit'), count('remaining'), response.headers.get('retry-after')];
  };
  const image = { prompt: 'counted', async: true };
  const inputs = { width: 16, height: 16, batch_size: 1, color: 0 };
  const save = { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'x' } };
  const job = { workflow: { 1: { class_type: 'EmptyImage', inputs }, 2: save } };
  expect(await post('/v1/images/generations', {})).toEqual([400, 'invalid_value', '600', '599', null]);
  expect(await post('/api/v2/jobs', {})).toEqual([422, 'invalid_workflow', '600', '598', null]);
  expect(await post('/v1/images/generations', image)).toEqual([202, null, '3', '2', expect.anything()]);
  expect(await post('/api/v2/jobs', job)).toEqual([201, null, '3', '1', null]);
  expect(await post('/api/v2/jobs', job)).toEqual([201, null, '3', '0', null]);
  const wait = expect.stringMatching(/^[1-9]\d?$/);
  expect(await post('/api/v2/jobs', job)).toEqual([429, 'rate_limited', '3', '0', wait]);
  expect(await post('/v1/images/generations', image)).toEqual([429, 'rate_limit_exceeded', '3', '0', wait]);
});
