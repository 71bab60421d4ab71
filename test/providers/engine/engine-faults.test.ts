import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { graphql, until } from '../../kit/clients/requests.ts';
import { takeSample } from '../../kit/extent.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';
import { readFixture } from '../contract/wire-shape.ts';
import { must, openEnvironment, SECRET, type Environment } from '../environment/environment.ts';

/**
 * The task engine with the real adapters, on bindings like a real upstream's (a start that nobody can confirm is never
 * repeated): whatever the upstream does, the task ends as design says, and nothing is started twice.
 */

let world: Environment;
let kiln: KilnUnderTest;
beforeAll(async () => {
  world = await openEnvironment();
  const { origin } = world.proxy;
  kiln = await startKiln({
    settings: {
      REST_AUTH: 'open',
      MIDJOURNEY_BASE_URL: `${origin}/midjourney`,
      MIDJOURNEY_SECRET: SECRET,
      OPENAI_BASE_URL: `${origin}/openai/v1`,
      OPENAI_API_KEY: SECRET,
      // Results lie at the stand-in itself, behind the proxy.
      OUTBOUND_ALLOW: new URL(world.sandbox.url).host,
    },
    logLevel: 'silent',
  });
});
afterAll(async () => {
  await kiln?.close();
  await world?.close();
});
beforeEach(async () => {
  await world.reset();
  await world.setLatency({ wire: 'midjourney', queuedMs: 0, runningMs: 100, progressSteps: 2 });
});

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

async function submit(generator: string, input: object = {}): Promise<string> {
  const { data, errors } = await graphql(
    kiln.url,
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

async function read(id: string): Promise<TaskView> {
  const { data } = await graphql(kiln.url, `query Read($id: ID!) { task(id: $id) { ${TASK} } }`, { id });
  expect(JSON.stringify(data)).not.toContain(SECRET);
  return data.task as TaskView;
}

/** The task at its end, for which the database is asked: that costs a tenth of a question to the public face. */
async function ended(id: string): Promise<TaskView> {
  const { pool } = kiln.runtime.database;
  await until(
    () => pool.query('select from media.tasks where id = $1 and ended_at is not null', [id]),
    ({ rowCount }) => rowCount === 1,
  );
  return read(id);
}

/** Submits and gives the task at its end, its attempts as `STATE CODE`. */
async function run(generator: string, input?: object) {
  const task = await ended(await submit(generator, input));
  const attempts = task.attempts.map(({ state, error }) => [state, error?.code].filter(Boolean).join(' '));
  return { ...task, attempts, references: task.attempts.map(({ reference }) => reference) };
}

const oncePer = (references: readonly string[]) =>
  Object.fromEntries(references.map((reference) => [reference, 1]));

describe('a midjourney task', () => {
  const wire = 'midjourney';
  const operation = 'imagine';
  const image = { contentType: 'image/png', bytes: expect.any(Number) };

  it.each([
    ['half an answer to its start', { fault: 'malformed' }],
    ['a page in place of an answer to its start', { fault: 'wrong-content-type' }],
    ['a broken connection at its start', { fault: 'cut' }],
    ['an error after its start was carried out', { fault: 'server-error', accepted: true }],
    ['a slow start', { fault: 'slow', delayMs: 1_500 }],
  ] as const)('survives %s with one start in one attempt', async (_what, fault) => {
    await world.injectFault({ wire, operation, ...fault });
    const task = await run('imga');
    expect(task).toMatchObject({ state: 'SUCCEEDED', outputs: [image], attempts: ['SUCCEEDED'] });
    expect(await world.starts()).toEqual(oncePer(task.references));
  });

  it.each([
    ['is refused for now', { fault: 'rate-limited' }, 'FAILED RATE_LIMITED'],
    ['finds a full line', { fault: 'queue-full' }, 'FAILED RATE_LIMITED'],
    ['fails before it was carried out', { fault: 'server-error' }, 'FAILED LOST'],
  ] as const)('whose start %s is started again, and counted once', async (_what, fault, first) => {
    await world.injectFault({ wire, operation, ...fault });
    const task = await run('imga');
    expect(task).toMatchObject({ state: 'SUCCEEDED', attempts: [first, 'SUCCEEDED'] });
    expect(await world.starts()).toEqual(oncePer(task.references.slice(1)));
  });

  it.each([
    ['is lost', 'fetch', { fault: 'lost' }, 'FAILED LOST'],
    ['is lost without a word', 'fetch', { fault: 'lost-silently' }, 'FAILED LOST'],
    ['fails', 'imagine', { fault: 'upstream-error' }, 'FAILED UNAVAILABLE'],
  ] as const)('whose work %s upstream goes on in a second attempt', async (_what, where, fault, first) => {
    await world.injectFault({ wire, operation: where, ...fault });
    const task = await run('imga');
    expect(task).toMatchObject({ state: 'SUCCEEDED', outputs: [image], attempts: [first, 'SUCCEEDED'] });
    expect(await world.starts()).toEqual(oncePer(task.references));
  });

  it('ends after three attempts that fail, with the last one’s reason', async () => {
    await world.injectFault({ wire, operation, fault: 'upstream-error', times: 3 });
    const task = await run('imga');
    expect(task).toMatchObject({ state: 'FAILED', error: { code: 'UNAVAILABLE', retryable: true } });
    expect(task.attempts).toEqual(Array.from({ length: 3 }, () => 'FAILED UNAVAILABLE'));
    expect(await world.starts()).toEqual(oncePer(task.references));
  });

  it.each(['moderation', 'late-moderation'] as const)(
    'ends at once when it is refused (%s)',
    async (fault) => {
      await world.injectFault({ wire, operation, fault });
      expect(await run('imga')).toMatchObject({
        state: 'FAILED',
        error: { code: 'MODERATION_REFUSED', retryable: false },
        attempts: ['FAILED MODERATION_REFUSED'],
      });
    },
  );

  it('survives status calls that get an error and half an answer', async () => {
    await world.injectFault({ wire, operation: 'fetch', fault: 'server-error' });
    await world.injectFault({ wire, operation: 'fetch', fault: 'malformed' });
    const task = await run('imga');
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
  it.each(takeSample(downloads, 3))(
    'stores its whole result although the first download ends badly (%s)',
    async (fault) => {
      await world.injectFault({ wire, operation: 'download', fault });
      const task = await run('imga');
      expect(task).toMatchObject({ state: 'SUCCEEDED', outputs: [image], attempts: ['SUCCEEDED'] });
      expect(task.outputs[0]?.bytes).toBe(await sizeUpstream());
      expect(await world.starts()).toEqual(oncePer(task.references));
    },
  );

  /** Bytes of the one image at the stand-in. */
  async function sizeUpstream(): Promise<number> {
    const list = await fetch(`${world.sandbox.url}/midjourney/mj/task/list`, {
      headers: { 'mj-api-secret': SECRET },
    });
    const [task] = (await list.json()) as { imageUrl: string }[];
    const answer = await fetch(must(task, 'task').imageUrl);
    return (await answer.arrayBuffer()).byteLength;
  }

  it.each([
    ['waits', { queuedMs: 60_000 }],
    ['runs', { runningMs: 60_000, progressSteps: 100 }],
  ])('that %s upstream is cancelled there too', async (_what, latency) => {
    await world.setLatency({ wire, ...latency });
    const id = await submit('imga');
    await until(
      () => read(id),
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
    expect(await ended(id)).toMatchObject({ state: 'CANCELLED', attempts: [{ state: 'CANCELLED' }] });
    expect(await world.jobStates()).toEqual(['cancelled']);
  });
});

describe('an openai task', () => {
  const wire = 'openai';
  const operation = 'images';

  it('stores images that come inline, in their order', async () => {
    const task = await run('union', { count: 2 });
    expect(task).toMatchObject({ state: 'SUCCEEDED', attempts: ['SUCCEEDED'] });
    expect(task.outputs.map(({ contentType }) => contentType)).toEqual(['image/png', 'image/png']);
    expect(await world.starts()).toEqual(oncePer(task.references));
  });

  it('that is refused for now is started again', async () => {
    await world.injectFault({ wire, operation, fault: 'rate-limited' });
    // The model keeps it here; without one the next attempt may be at another provider.
    const task = await run('union', { model: 'gpt-image-1' });
    expect(task).toMatchObject({ state: 'SUCCEEDED', attempts: ['FAILED RATE_LIMITED', 'SUCCEEDED'] });
    expect(await world.starts()).toEqual(oncePer(task.references.slice(1)));
  });

  it('that is refused by moderation ends at once', async () => {
    await world.injectFault({ wire, operation, fault: 'moderation' });
    expect(await run('union')).toMatchObject({
      state: 'FAILED',
      error: { code: 'MODERATION_REFUSED', retryable: false, field: 'prompt' },
      attempts: ['FAILED MODERATION_REFUSED'],
    });
  });

  it.each([
    ['an error', { fault: 'server-error', accepted: true }],
    ['half an answer', { fault: 'malformed' }],
    ['a broken connection', { fault: 'cut' }],
  ] as const)('that got %s is named, and never started again', async (_what, fault) => {
    await world.injectFault({ wire, operation, ...fault });
    const task = await run('union');
    expect(task).toMatchObject({
      state: 'FAILED',
      error: { code: 'START_UNKNOWN', retryable: false },
      attempts: ['UNKNOWN START_UNKNOWN'],
    });
    expect(await world.starts()).toEqual(oncePer(task.references));
  });

  it('whose answer is no image ends without being made again, and without keeping anybody waiting', async () => {
    const nonsense = Buffer.from('not an image at all').toString('base64');
    world.proxy.respondNext('/images/', { body: { created: 1, data: [{ b64_json: nonsense }] } });
    expect(await run('union')).toMatchObject({
      state: 'FAILED',
      error: { code: 'STORAGE_FAILED' },
      outputs: [],
      attempts: ['FAILED STORAGE_FAILED'],
    });
    expect(world.proxy.sent).toHaveLength(1);
  });

  it('that the vendor is too busy for goes on later', async () => {
    const { answers } = readFixture(
      new URL('../../../subgraphs/media/providers/openai/wire.fixture.json', import.meta.url),
    );
    world.proxy.respondNext('/images/', { status: 503, body: answers['overloaded'] });
    expect(await run('union')).toMatchObject({
      state: 'SUCCEEDED',
      attempts: ['FAILED UNAVAILABLE', 'SUCCEEDED'],
    });
  });

  it('that is cancelled while it runs hangs up', async () => {
    await world.setLatency({ wire, runningMs: 60_000 });
    const id = await submit('union');
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
    expect(await ended(id)).toMatchObject({ state: 'CANCELLED', attempts: [{ state: 'CANCELLED' }] });
  });
});
