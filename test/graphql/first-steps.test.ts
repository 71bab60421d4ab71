import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

import { buildSchema, introspectionFromSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { listenOn, stopAccepting } from '../../platform/http/server.ts';
import { graphql, rest } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/** What somebody meets in the first minutes: a key, a header, a port, the schema. */

const key = createHash('sha256').update('first steps').digest('hex');
const authorization = `Bearer ${key}`;

let kiln: KilnUnderTest;
beforeAll(async () => {
  const hash = createHash('sha256').update(key).digest('hex');
  kiln = await startKiln({ settings: { SERVICE_KEYS: `operator=${hash}`, REST_AUTH: 'required' } });
});
afterAll(() => kiln.close());

describe('an Authorization header', () => {
  const malformed = { authorization: 'Bearer the secret of this key' };

  it('with a key of openssl rand -hex 32 opens what needs one', async () => {
    const { data, errors } = await graphql(kiln.url, '{ serviceKeys { id } }', {}, { authorization });
    expect(errors).toBeUndefined();
    expect(data.serviceKeys).toEqual([]);
  });

  it('that is malformed is said to be so, over GraphQL and where REST needs a credential', async () => {
    const { errors } = await graphql(kiln.url, '{ models { id } }', {}, malformed);
    expect(errors).toMatchObject([
      { message: expect.stringContaining('malformed'), extensions: { code: 'UNAUTHENTICATED' } },
    ]);
    const body = { task_type: 'tea', prompt: 'a fox', ar: '1:1' };
    const answer = await rest(kiln.url, 'POST', '/api/task/create/task', body, malformed);
    expect([answer.status, answer.body.msg]).toEqual([401, expect.stringContaining('malformed')]);
  });
});

describe('/schema.graphql', () => {
  it('is the schema that callers see, with its descriptions', async () => {
    const answer = await fetch(`${kiln.url}/schema.graphql`);
    const sdl = await answer.text();
    const schema = buildSchema(sdl);
    expect(schema.getMutationType()?.getFields()['createTask']?.description).toContain('recipe');
    const client = buildSchema(
      await readFile(new URL('../../schema/client.graphql', import.meta.url), 'utf8'),
    );
    const plain = (one: typeof schema) =>
      introspectionFromSchema(one, { descriptions: false }).__schema.types;
    expect(plain(schema)).toEqual(plain(client));
  });
});

describe('a start', () => {
  it('on a port that is taken says so in one sentence', async () => {
    const [first, second] = [createServer(), createServer()];
    const { url } = await listenOn(first, '127.0.0.1', 0);
    const port = Number(new URL(url).port);
    await expect(listenOn(second, '127.0.0.1', port)).rejects.toMatchObject({
      name: 'AppError',
      message: `port ${port} of 127.0.0.1 is in use by another program: stop it, or set PORT to another one`,
    });
    await stopAccepting(first);
  });
});
