import { describe, expect, it } from 'vitest';

import { graphql, until } from '../kit/clients/requests.ts';
import { isWhole } from '../kit/extent.ts';
import { serviceKey } from '../kit/processes/kiln-process.ts';
import { useKilledKiln } from './killed-kiln.fixture.ts';
import { allTasks, violations, NO_VIOLATIONS, submitImages, tally, untilAllEnded } from './workload.ts';

/**
 * kill -9 of a whole Kiln, its database server included, in the middle of its work. The outside world is a process of
 * its own that is not killed and counts the starts.
 */

// Only what `npm run test:all` adds kills the outside world too.
const world = useKilledKiln({ isOutsideInTest: !isWhole });

/** OpenAI as if it were a real one, whose calls can't be asked for afterwards and cost money to repeat. */
const realOpenai = () => ({
  OPENAI_BASE_URL: world.sandbox.wires.openai,
  OPENAI_API_KEY: 'sk-of-the-tests',
  REST_AUTH: 'open',
});

/** A start that is sent and not answered, unless its connection is cut. */
const unanswered = { wire: 'midjourney', operation: 'imagine', fault: 'slow', delayMs: 60_000 };

/** As `allTasks`, until that many attempts are in that state. */
async function untilAttempts(url: string, state: string, count: number): Promise<void> {
  await until(
    async () => tally((await allTasks(url)).flatMap(({ attempts }) => attempts.map((one) => one.state))),
    (states) => (states[state] ?? 0) >= count,
    60_000,
  );
}

describe.skipIf(process.platform !== 'linux')('kill -9 of everything', () => {
  it('what ran goes on, a start is found again or named unknowable, and a call that comes again joins', async () => {
    await world.sandbox.latency({ wire: 'midjourney', queuedMs: 0, runningMs: 8_000 });
    const first = await world.start(realOpenai());
    await submitImages(first.url, 'imga', 2);
    const execution = await executePoster(first.url, 1);
    await untilAttempts(first.url, 'RUNNING', 3);
    await world.sandbox.injectFault({ ...unanswered, times: 2 });
    await world.sandbox.injectFault({ ...unanswered, wire: 'openai', operation: 'images', times: 2 });
    const inWindow = [
      ...(await submitImages(first.url, 'imga', 2)),
      ...(await submitImages(first.url, 'union', 2)),
    ];
    await world.sandbox.untilFaultsAreUsed();
    const before = await world.sandbox.starts();
    await first.killEverything();
    expect(Object.keys(before)).toHaveLength(3);
    expect(inWindow.filter((id) => `${id}/1/1` in before)).toEqual([]);

    const second = await world.start(realOpenai());
    expect(await executePoster(second.url, 1)).toBe(execution);
    const tasks = await untilAllEnded(second.url);
    const ends = tasks.map((task) => [task.generator, task.error?.code ?? task.state, task.outputs.length]);
    expect(tally(ends.map((end) => end.join(' ')))).toEqual({
      'imga SUCCEEDED 1': 4,
      'agg/imga SUCCEEDED 1': 1,
      'union START_UNKNOWN 0': 2,
    });
    expect(tally(tasks.flatMap(({ attempts }) => attempts.map(readEnd)))).toEqual({
      '1 SUCCEEDED': 5,
      '1 UNKNOWN': 2,
    });
    expect(await violations(world.sandbox, tasks)).toEqual(NO_VIOLATIONS);
    expect(Object.keys(await world.sandbox.starts())).toHaveLength(7);
  });

  it.runIf(isWhole)(
    'of many at once, twice: each is found again, or absent and made again, or unknowable',
    async () => {
      await world.sandbox.latency({ wire: 'midjourney', queuedMs: 0, runningMs: 8_000 });
      const first = await world.start(realOpenai());
      // 16 whose handle is saved.
      await submitImages(first.url, 'imga', 16);
      await untilAttempts(first.url, 'RUNNING', 16);
      // 14 whose start is sent and not answered: the upstream carries them out when the kill cuts their connections.
      await world.sandbox.injectFault({ ...unanswered, times: 8 });
      await world.sandbox.injectFault({ ...unanswered, wire: 'openai', operation: 'images', times: 6 });
      const inWindow = [
        ...(await submitImages(first.url, 'imga', 8)),
        ...(await submitImages(first.url, 'union', 6)),
      ];
      await world.sandbox.untilFaultsAreUsed();
      const before = await world.sandbox.starts();
      await world.sandbox.latency({ wire: 'midjourney', runningMs: 500 });
      await first.killEverything();
      expect(Object.keys(before)).toHaveLength(16);
      expect(inWindow.filter((id) => `${id}/1/1` in before)).toEqual([]);

      const second = await world.start(realOpenai());
      // 6 whose start the upstream never receives: it dies with them, before it can see that their senders died.
      await world.sandbox.injectFault({ ...unanswered, times: 6 });
      const absent = await submitImages(second.url, 'imga', 6);
      await world.sandbox.untilFaultsAreUsed();
      second.signalGroup('SIGSTOP');
      await world.sandbox.kill();
      await second.killEverything();
      await world.sandbox.restart();
      const between = await world.sandbox.starts();
      expect(absent.filter((id) => `${id}/1/1` in between)).toEqual([]);

      const third = await world.start(realOpenai());
      const tasks = await untilAllEnded(third.url);
      expect(tasks).toHaveLength(36);
      const again = tasks.filter(({ id }) => absent.includes(id));
      const images = tasks.filter((task) => isFrom('imga')(task) && !again.includes(task));
      const calls = tasks.filter(isFrom('union'));
      expect(tally([...images, ...again].map(({ state }) => state))).toEqual({ SUCCEEDED: 30 });
      expect(tally([...images, ...again].map(({ outputs }) => String(outputs.length)))).toEqual({ 1: 30 });
      // Found again: still the first attempt of each.
      expect(tally(images.flatMap(({ attempts }) => attempts.map(readEnd)))).toEqual({ '1 SUCCEEDED': 24 });
      // Not there for sure, so the next attempt is made.
      const ends = again.flatMap(({ attempts }) => attempts.map(readEnd));
      expect(tally(ends)).toEqual({ '1 FAILED LOST': 6, '2 SUCCEEDED': 6 });
      expect(tally(calls.map(({ state, error }) => `${state} ${error?.code}`))).toEqual({
        'FAILED START_UNKNOWN': 6,
      });
      expect(tally(calls.flatMap(({ attempts }) => attempts.map(readEnd)))).toEqual({ '1 UNKNOWN': 6 });
      expect(await violations(world.sandbox, tasks)).toEqual(NO_VIOLATIONS);
      expect(Object.keys(await world.sandbox.starts())).toHaveLength(36);
    },
  );

  it.runIf(isWhole)(
    'again and again while work is submitted, waits, starts, runs and is stored: each is made once and learns of its end',
    async () => {
      // Twelve at a time, as with a real upstream; the others wait in the queue.
      const settings = { MIDJOURNEY_BASE_URL: world.sandbox.wires.midjourney, REST_AUTH: 'open' };
      await world.sandbox.latency({ wire: 'midjourney', queuedMs: 0, runningMs: 500 });
      const first = await world.start(settings);
      await submitImages(first.url, 'imga', 20);
      let answered = 0;
      const submitted = Promise.allSettled(
        Array.from({ length: 20 }, async (_, index) => {
          await executePoster(first.url, index);
          answered += 1;
        }),
      );
      // The others are on their way through both subgraphs when everything dies.
      await until(
        async () => answered,
        (count) => count >= 5,
      );
      await first.killEverything();
      await submitted;

      let kiln = await world.start(settings);
      // Repeated with the same keys.
      const ids = await Promise.all(Array.from({ length: 20 }, (_, index) => executePoster(kiln.url, index)));
      expect(new Set(ids).size).toBe(20);
      for (const ended of [8, 24]) {
        await until(
          async () => (await allTasks(kiln.url)).filter(({ state }) => state === 'SUCCEEDED').length,
          (count) => count >= ended,
          60_000,
        );
        await kiln.killEverything();
        kiln = await world.start(settings);
      }
      const tasks = await untilAllEnded(kiln.url);
      expect(tally(tasks.map(({ state, error }) => error?.code ?? state))).toEqual({ SUCCEEDED: 40 });
      expect(tally(tasks.map(({ outputs }) => String(outputs.length)))).toEqual({ 1: 40 });
      const executions = await until(
        () => posterExecutions(kiln.url),
        (all) => all.every(({ status }) => status !== 'RUNNING'),
      );
      expect(tally(executions.map(({ status }) => status))).toEqual({ COMPLETED: 20 });
      expect(executions.map(({ id }) => id).sort()).toEqual([...ids].sort());
      const known = new Set(tasks.map(({ id }) => id));
      expect(new Set(executions.map(({ taskId }) => taskId).filter((id) => known.has(id))).size).toBe(20);
      expect(await violations(world.sandbox, tasks)).toEqual(NO_VIOLATIONS);
    },
  );
});

/** Executes the bundled image template under a key of its own; answers the id of the execution. */
async function executePoster(url: string, index: number): Promise<string> {
  const mutation = `mutation ($key: String!, $parameters: JSON!) {
    executeTemplate(code: "poster", parameters: $parameters, idempotencyKey: $key) { id }
  }`;
  const variables = { key: `poster-${index}`, parameters: { prompt: `poster ${index}` } };
  const { data, errors } = await graphql(url, mutation, variables, serviceKey);
  if (errors !== undefined) throw new Error(`not accepted: ${JSON.stringify(errors)}`);
  return data.executeTemplate.id;
}

async function posterExecutions(
  url: string,
): Promise<readonly { readonly id: string; readonly status: string; readonly taskId: string }[]> {
  const query = '{ executions(first: 100) { edges { node { id status taskId } } } }';
  const { data } = await graphql(url, query, {}, serviceKey);
  return data.executions.edges.map(
    ({ node }: { node: { id: string; status: string; taskId: string } }) => node,
  );
}

const isFrom =
  (generator: string) =>
  (task: { readonly generator: string }): boolean =>
    task.generator === generator;

/** `1 SUCCEEDED`, `2 FAILED LOST`: the attempt's number, state and error. */
function readEnd(attempt: {
  readonly reference: string;
  readonly state: string;
  readonly error: { readonly code: string } | null;
}): string {
  const code = attempt.state === 'FAILED' ? ` ${attempt.error?.code}` : '';
  return `${attempt.reference.split('/')[2]} ${attempt.state}${code}`;
}
