import { describe, expect } from 'vitest';

import { graphql, until } from '../../kit/clients/requests.ts';
import { takeSample } from '../../kit/extent.ts';
import type { KilnUnderTest } from '../../kit/kiln.ts';
import { readFixture } from '../contract/wire-shape.ts';
import { must, SECRET, type Environment } from '../environment/environment.ts';
import { createKilnTest } from '../environment/kiln-test.ts';

/**
 * The task engine with the real adapters, on bindings like a real upstream's (a start that nobody can confirm is never
 * repeated): whatever the upstream does, the task ends as design says, and nothing is started twice.
 */

const it = createKilnTest({
  kilns: 4,
  settings: ({ proxy: { origin }, sandbox }) => ({
    REST_AUTH: 'open',
    MIDJOURNEY_BASE_URL: `${origin}/midjourney`,
    MIDJOURNEY_SECRET: SECRET,
    OPENAI_BASE_URL: `${origin}/openai/v1`,
    OPENAI_API_KEY: SECRET,
    // Results lie at the stand-in itself, behind the proxy.
    OUTBOUND_ALLOW: new URL(sandbox.url).host,
  }),
});
it.beforeEach(({ world }) =>
  world.setLatency({ wire: 'midjourney', queuedMs: 0, runningMs: 100, progressSteps: 2 }),
);

interface TaskView {
  readonly id: string;
  readonly state: string;
  readonly error: { readonly code: string; readonly message: string; readonly retryable: boolean } | null;
  readonly outputs: readonly { readonly contentType: string; readonly bytes: number }[];
  readonly attempts: readonly {
    readonly reference: string;
    readonly state: string;
    readonly error: { readonly code: string } | null;
  }[];
}

const TASK = `id state error { code message retryable field } outputs { contentType bytes }
  attempts { reference state error { code message } }`;

async function submit({ url }: KilnUnderTest, generator: string, input: object = {}): Promise<string> {
  const { data, errors } = await graphql(
    url,
    `
      mutation Make($input: ImageInput!) {
        generateImage(input: $input) {
          id
        }
      }
    `,
    { input: { generator, prompt: 'a lighthouse', ...input } },
  );
  expect(errors).toBeUndefined();
  return data.generateImage.id as string;
}

async function read({ url }: KilnUnderTest, id: string): Promise<TaskView> {
  const { data } = await graphql(url, `query Read($id: ID!) { task(id: $id) { ${TASK} } }`, { id });
  expect(JSON.stringify(data)).not.toContain(SECRET);
  return data.task as TaskView;
}

/** The task at its end, for which the database is asked: that costs a tenth of a question to the public face. */
async function ended(kiln: KilnUnderTest, id: string): Promise<TaskView> {
  const { pool } = kiln.runtime.database;
  await until(
    () => pool.query('select from media.tasks where id = $1 and ended_at is not null', [id]),
    ({ rowCount }) => rowCount === 1,
  );
  return read(kiln, id);
}

/** Submits and gives the task at its end, its attempts as `STATE CODE`. */
async function run(kiln: KilnUnderTest, generator: string, input?: object) {
  const task = await ended(kiln, await submit(kiln, generator, input));
  const attempts = task.attempts.map(({ state, error }) => [state, error?.code].filter(Boolean).join(' '));
  return { ...task, attempts, references: task.attempts.map(({ reference }) => reference) };
}

const oncePer = (references: readonly string[]) =>
  Object.fromEntries(references.map((reference) => [reference, 1]));

describe.concurrent('a midjourney task', () => {
  const wire = 'midjourney';
  const operation = 'imagine';
  const image = { contentType: 'image/png', bytes: expect.any(Number) };

  it.for([
    ['half an answer to its start', { fault: 'malformed' }],
    ['a page in place of an answer to its start', { fault: 'wrong-content-type' }],
    ['a broken connection at its start', { fault: 'cut' }],
    ['an error after its start was carried out', { fault: 'server-error', accepted: true }],
    ['a slow start', { fault: 'slow', delayMs: 1_500 }],
  ] as const)('survives %s with one start in one attempt', async ([, fault], { world, kiln }) => {
    await world.injectFault({ wire, operation, ...fault });
    const task = await run(kiln, 'imga');
    expect(task).toMatchObject({ state: 'SUCCEEDED', outputs: [image], attempts: ['SUCCEEDED'] });
    expect(await world.starts()).toEqual(oncePer(task.references));
  });

  it.for([
    ['is refused for now', { fault: 'rate-limited' }, 'FAILED RATE_LIMITED'],
    ['finds a full line', { fault: 'queue-full' }, 'FAILED RATE_LIMITED'],
    ['fails before it was carried out', { fault: 'server-error' }, 'FAILED LOST'],
  ] as const)(
    'whose start %s is started again, and counted once',
    async ([, fault, first], { world, kiln }) => {
      await world.injectFault({ wire, operation, ...fault });
      const task = await run(kiln, 'imga');
      expect(task).toMatchObject({ state: 'SUCCEEDED', attempts: [first, 'SUCCEEDED'] });
      expect(await world.starts()).toEqual(oncePer(task.references.slice(1)));
    },
  );

  it.for([
    ['is lost', 'fetch', { fault: 'lost' }, 'FAILED LOST'],
    ['is lost without a word', 'fetch', { fault: 'lost-silently' }, 'FAILED LOST'],
    ['fails', 'imagine', { fault: 'upstream-error' }, 'FAILED UNAVAILABLE'],
  ] as const)(
    'whose work %s upstream goes on in a second attempt',
    async ([, where, fault, first], { world, kiln }) => {
      await world.injectFault({ wire, operation: where, ...fault });
      const task = await run(kiln, 'imga');
      expect(task).toMatchObject({ state: 'SUCCEEDED', outputs: [image], attempts: [first, 'SUCCEEDED'] });
      expect(await world.starts()).toEqual(oncePer(task.references));
    },
  );

  it('ends after three attempts that fail, with the last one’s reason', async ({ world, kiln }) => {
    await world.injectFault({ wire, operation, fault: 'upstream-error', times: 3 });
    const task = await run(kiln, 'imga');
    expect(task).toMatchObject({ state: 'FAILED', error: { code: 'UNAVAILABLE', retryable: true } });
    expect(task.attempts).toEqual(Array.from({ length: 3 }, () => 'FAILED UNAVAILABLE'));
    expect(await world.starts()).toEqual(oncePer(task.references));
  });

  it.for(['moderation', 'late-moderation'] as const)(
    'ends at once when it is refused (%s)',
    async (fault, { world, kiln }) => {
      await world.injectFault({ wire, operation, fault });
      expect(await run(kiln, 'imga')).toMatchObject({
        state: 'FAILED',
        error: { code: 'MODERATION_REFUSED', retryable: false },
        attempts: ['FAILED MODERATION_REFUSED'],
      });
    },
  );

  it('survives status calls that get an error and half an answer', async ({ world, kiln }) => {
    await world.injectFault({ wire, operation: 'fetch', fault: 'server-error' });
    await world.injectFault({ wire, operation: 'fetch', fault: 'malformed' });
    const task = await run(kiln, 'imga');
    expect(task).toMatchObject({ state: 'SUCCEEDED', attempts: ['SUCCEEDED'] });
    expect(await world.starts()).toEqual(oncePer(task.references));
  });

  const downloads = [
    'expired-url',
    'wrong-content-type',
    'wrong-length',
    'cut',
    'server-error',
    'malformed',
  ] as const;
  it.for(takeSample(downloads, 3))(
    'stores its whole result although the first download ends badly (%s)',
    async (fault, { world, kiln }) => {
      await world.injectFault({ wire, operation: 'download', fault });
      const task = await run(kiln, 'imga');
      expect(task).toMatchObject({ state: 'SUCCEEDED', outputs: [image], attempts: ['SUCCEEDED'] });
      expect(task.outputs[0]?.bytes).toBe(await sizeUpstream(world));
      expect(await world.starts()).toEqual(oncePer(task.references));
    },
  );

  /** Bytes of the one image at the stand-in. */
  async function sizeUpstream(world: Environment): Promise<number> {
    const list = await fetch(`${world.sandbox.url}/midjourney/mj/task/list`, {
      headers: { 'mj-api-secret': SECRET },
    });
    const [task] = (await list.json()) as { imageUrl: string }[];
    const answer = await fetch(must(task, 'task').imageUrl);
    return (await answer.arrayBuffer()).byteLength;
  }

  it.for([
    ['waits', { queuedMs: 60_000 }],
    ['runs', { runningMs: 60_000, progressSteps: 100 }],
  ] as const)('that %s upstream is cancelled there too', async ([, latency], { world, kiln }) => {
    await world.setLatency({ wire, ...latency });
    const id = await submit(kiln, 'imga');
    await until(
      () => read(kiln, id),
      ({ attempts }) => attempts[0]?.state === 'RUNNING',
    );
    await graphql(
      kiln.url,
      `
        mutation Cancel($id: ID!) {
          cancelTask(id: $id) {
            id
          }
        }
      `,
      { id },
    );
    expect(await ended(kiln, id)).toMatchObject({ state: 'CANCELLED', attempts: [{ state: 'CANCELLED' }] });
    expect(await world.jobStates()).toEqual(['cancelled']);
  });
});

describe.concurrent('an openai task', () => {
  const wire = 'openai';
  const operation = 'images';

  it('stores images that come inline, in their order', async ({ world, kiln }) => {
    const task = await run(kiln, 'union', { count: 2 });
    expect(task).toMatchObject({ state: 'SUCCEEDED', attempts: ['SUCCEEDED'] });
    expect(task.outputs.map(({ contentType }) => contentType)).toEqual(['image/png', 'image/png']);
    expect(await world.starts()).toEqual(oncePer(task.references));
  });

  it('that is refused for now is started again', async ({ world, kiln }) => {
    await world.injectFault({ wire, operation, fault: 'rate-limited' });
    // The model keeps it here; without one the next attempt may be at another provider.
    const task = await run(kiln, 'union', { model: 'gpt-image-1' });
    expect(task).toMatchObject({ state: 'SUCCEEDED', attempts: ['FAILED RATE_LIMITED', 'SUCCEEDED'] });
    expect(await world.starts()).toEqual(oncePer(task.references.slice(1)));
  });

  it('that is refused by moderation ends at once', async ({ world, kiln }) => {
    await world.injectFault({ wire, operation, fault: 'moderation' });
    expect(await run(kiln, 'union')).toMatchObject({
      state: 'FAILED',
      error: { code: 'MODERATION_REFUSED', retryable: false, field: 'prompt' },
      attempts: ['FAILED MODERATION_REFUSED'],
    });
  });

  it.for([
    ['an error', { fault: 'server-error', accepted: true }],
    ['half an answer', { fault: 'malformed' }],
    ['a broken connection', { fault: 'cut' }],
  ] as const)('that got %s is named, and never started again', async ([, fault], { world, kiln }) => {
    await world.injectFault({ wire, operation, ...fault });
    const task = await run(kiln, 'union');
    expect(task).toMatchObject({
      state: 'FAILED',
      error: { code: 'START_UNKNOWN', retryable: false },
      attempts: ['UNKNOWN START_UNKNOWN'],
    });
    expect(await world.starts()).toEqual(oncePer(task.references));
  });

  it('whose answer is no image ends without being made again, and without keeping anybody waiting', async ({
    world,
    kiln,
  }) => {
    const nonsense = Buffer.from('not an image at all').toString('base64');
    world.proxy.respondNext('/images/', { body: { created: 1, data: [{ b64_json: nonsense }] } });
    expect(await run(kiln, 'union')).toMatchObject({
      state: 'FAILED',
      error: { code: 'STORAGE_FAILED' },
      outputs: [],
      attempts: ['FAILED STORAGE_FAILED'],
    });
    expect(world.proxy.sent).toHaveLength(1);
  });

  it('that the vendor is too busy for goes on later', async ({ world, kiln }) => {
    const { answers } = readFixture(
      new URL('../../../subgraphs/media/providers/openai/wire.fixture.json', import.meta.url),
    );
    world.proxy.respondNext('/images/', { status: 503, body: answers['overloaded'] });
    expect(await run(kiln, 'union')).toMatchObject({
      state: 'SUCCEEDED',
      attempts: ['FAILED UNAVAILABLE', 'SUCCEEDED'],
    });
  });

  it('that is cancelled while it runs hangs up', async ({ world, kiln, expect }) => {
    await world.setLatency({ wire, runningMs: 60_000 });
    const id = await submit(kiln, 'union');
    await expect.poll(() => world.starts()).not.toEqual({});
    await graphql(
      kiln.url,
      `
        mutation Cancel($id: ID!) {
          cancelTask(id: $id) {
            id
          }
        }
      `,
      { id },
    );
    expect(await ended(kiln, id)).toMatchObject({ state: 'CANCELLED', attempts: [{ state: 'CANCELLED' }] });
  });
});
