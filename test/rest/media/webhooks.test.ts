import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { isObjectType, print, type GraphQLField } from 'graphql';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { sections } from '../../../rest-compat/tables.ts';
import { mediaSchema } from '../../../subgraphs/media/schema/index.ts';
import { startReceiver, type Receiver } from '../../../subgraphs/media/webhooks/receiver.fixture.ts';
import { graphql, rest, taskEnd, until } from '../../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';

/** Result webhooks through both doors of a whole Kiln that made its own secret. */

let kiln: KilnUnderTest;
let receiver: Receiver;
/** Private too, and not allowed. */
let neighbour: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  neighbour = await startReceiver();
  kiln = await startKiln({ isQuick: true, settings: { OUTBOUND_ALLOW: receiver.host } });
});
afterAll(async () => {
  await kiln.close();
  await receiver.close();
  await neighbour.close();
});
beforeEach(() => void receiver.received.splice(0));

/** As docs/webhooks.md says how to find it. */
async function secret(): Promise<string> {
  const made = await readFile(path.join(kiln.dataDir, 'webhook-secret'), 'utf8');
  return `whsec_${Buffer.from(made, 'hex').toString('base64')}`;
}

const IMAGE = '/api/agg/imga/async/generate/image?prompt=a%20boat';
const start = (headers: Record<string, string>) => rest(kiln.url, 'POST', IMAGE, undefined, headers);

const GENERATE = `mutation ($url: String) {
  generateImage(input: { generator: "agg/imga", prompt: "a boat" }, callbackUrl: $url) { id }
}`;

const DELIVERIES = `query ($id: ID!) {
  webhookDeliveries(taskId: $id) { id url attempts deliveredAt lastStatus lastError task { id state } }
}`;

async function deliveries(id: string) {
  return (await graphql(kiln.url, DELIVERIES, { id })).data.webhookDeliveries;
}

describe('X-Callback-Url', () => {
  it('is told the end of the task, signed with the secret of this installation', async () => {
    const { body } = await start({ 'x-callback-url': receiver.url });
    const id: string = body.data.task_id ?? body.data;
    await until(
      async () => receiver.received.length,
      (count) => count > 0,
    );
    const [request] = receiver.received;
    if (request === undefined) throw new Error('nothing came');
    const { body: text, headers } = request;
    const told = new Webhook(await secret()).verify(text, headers as Record<string, string>);
    expect(told).toMatchObject({
      type: 'task.succeeded',
      data: {
        id,
        kind: 'IMAGE',
        generator: 'agg/imga',
        state: 'SUCCEEDED',
        outputs: expect.arrayContaining([
          expect.objectContaining({ sha256: expect.stringMatching(/^\w{64}$/) }),
        ]),
      },
    });
    const { url } = (told as { data: { outputs: { url: string }[] } }).data.outputs[0] ?? { url: '' };
    expect((await fetch(url)).headers.get('content-type')).toMatch(/^image\//);
    const [delivery, ...others] = await until(
      () => deliveries(id),
      (list) => list[0].deliveredAt !== null,
    );
    expect(others).toEqual([]);
    expect(delivery).toEqual({
      id: headers['webhook-id'],
      url: receiver.url,
      attempts: 1,
      deliveredAt: expect.any(String),
      lastStatus: 204,
      lastError: null,
      task: { id, state: 'SUCCEEDED' },
    });
  });

  it('counts as none when it is empty', async () => {
    const { body } = await start({ 'x-callback-url': ' ' });
    const id: string = body.data.task_id ?? body.data;
    await taskEnd(kiln.url, id);
    expect(await deliveries(id)).toEqual([]);
  });

  it('is no part of what makes two requests the same: the first one stays', async () => {
    const key = { 'idempotency-key': 'one' };
    const first = await start({ ...key, 'x-callback-url': `${receiver.url}?first` });
    const second = await start({ ...key, 'x-callback-url': `${receiver.url}?second` });
    expect(second.body).toEqual(first.body);
    await until(
      async () => receiver.received.length,
      (count) => count > 0,
    );
    const id: string = first.body.data.task_id ?? first.body.data;
    await until(
      () => deliveries(id),
      (list) => list[0].deliveredAt !== null,
    );
    expect(receiver.received.map((request) => request.path)).toEqual(['/hook?first']);
  });

  it('may not lead into the operator’s own network', async () => {
    const before = await kiln.runtime.database.pool.query('select from media.tasks');
    const { body } = await start({ 'x-callback-url': neighbour.url });
    expect(body).toMatchObject({
      status: false,
      msg: expect.stringMatching(
        /^X-Callback-Url can't be called: .* is not a public address; the operator can allow it with OUTBOUND_ALLOW=/,
      ),
    });
    for (const url of [neighbour.url, 'http://10.0.0.1/', 'ftp://example.org', 'https://a:b@example.org/']) {
      const { errors } = await graphql(kiln.url, GENERATE, { url });
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: 'callbackUrl' });
    }
    const after = await kiln.runtime.database.pool.query('select from media.tasks');
    expect(after.rowCount).toBe(before.rowCount);
    expect(neighbour.received).toEqual([]);
  });
});

describe('redeliverWebhook', () => {
  it('sends the same again under the same id', async () => {
    const { data } = await graphql(kiln.url, GENERATE, { url: receiver.url });
    const [delivery] = await until(
      () => deliveries(data.generateImage.id),
      (list) => list.length === 1 && list[0].deliveredAt !== null,
    );
    const REDELIVER = 'mutation ($id: ID!) { redeliverWebhook(id: $id) { id deliveredAt } }';
    const asked = await graphql(kiln.url, REDELIVER, { id: delivery.id });
    expect(asked.data).toEqual({ redeliverWebhook: { id: delivery.id, deliveredAt: null } });
    const [again] = await until(
      () => deliveries(data.generateImage.id),
      (list) => list[0].deliveredAt !== null,
    );
    expect(again).toMatchObject({ id: delivery.id, attempts: 2 });
    const [one, two] = receiver.received;
    expect(one?.headers['webhook-id']).toBe(two?.headers['webhook-id']);
    expect(one?.body).toBe(two?.body);
    const unknown = await graphql(kiln.url, REDELIVER, { id: 'none' });
    expect(unknown.errors?.[0]?.extensions).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('every submission', () => {
  const mutation = mediaSchema.getMutationType();
  const fields: GraphQLField<unknown, unknown>[] = Object.values(mutation?.getFields() ?? {});
  const starting = fields.filter(
    ({ type, args, extensions }) =>
      extensions['rule'] === 'spend' &&
      args.some(({ name }) => name === 'idempotencyKey') &&
      String(type).replace('!', '') === 'Task',
  );

  it('takes callbackUrl over GraphQL', () => {
    expect(isObjectType(mutation)).toBe(true);
    expect(starting.length).toBeGreaterThanOrEqual(8);
    const without = starting.filter(({ args }) => !args.some(({ name }) => name === 'callbackUrl'));
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  it('takes X-Callback-Url over REST, and the OpenAPI document says so', async () => {
    const routes = sections.flatMap((section) => section.routes);
    const asking = routes.filter(({ document }) =>
      starting.some(({ name }) =>
        new RegExp(`^ {2}${name}\\b`, 'm').test(document === null ? '' : print(document)),
      ),
    );
    expect(asking.length).toBeGreaterThan(20);
    const { body } = await rest(kiln.url, 'GET', '/openapi.json');
    const undeclared = asking.filter(({ method, path: where }) => {
      const { parameters = [] } = body.paths[where][method.toLowerCase()];
      return !parameters.some(
        (entry: { in: string; name: string }) => entry.in === 'header' && entry.name === 'X-Callback-Url',
      );
    });
    expect(undeclared.map(({ path: where }) => where)).toEqual([]);
    expect(
      asking.filter(({ document }) => !(document && print(document))?.includes('callbackUrl: $callbackUrl')),
    ).toEqual([]);
  });
});
