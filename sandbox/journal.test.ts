import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { silentLogger } from '../platform/process/logger.ts';
import { extent, isWhole } from '../test/kit/extent.ts';
import { createJobRunner } from './jobs/job-runner.ts';
import type { Job } from './jobs/job.ts';
import { openJournal } from './jobs/journal.ts';
import { DEFAULT_LATENCY } from './jobs/latency-profile.ts';
import { createSandbox } from './sandbox.ts';
import { follow, getJson, postJson, startSandbox, temporaryFolder } from './test-kit.ts';

/** Starts at once, two of each reference. */
const STARTS = extent(30, 300);

let folder: string;
let remove: () => Promise<void>;
const children: ChildProcess[] = [];

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterEach(async () => {
  for (const child of children.splice(0)) await end(child, 'SIGKILL');
  await remove();
});

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const gone = once(child, 'exit') as Promise<[number | null]>;
  child.kill(signal);
  const [code] = await gone;
  return code;
}

interface Opened {
  readonly url: string;
  /** Ends it while jobs are open. */
  readonly kill: () => Promise<unknown>;
  /** Answers its exit code. */
  readonly stop: () => Promise<number | null>;
}

/** A stand-in over the test's folder: in `npm run test:all` a process, which is killed; else inside the test, where its end leaves jobs open too. */
async function openStandIn(): Promise<Opened> {
  if (isWhole) {
    const { child, url } = await startProcess();
    return {
      url,
      kill: () => end(child, 'SIGKILL'),
      stop: () => end(child, 'SIGTERM'),
    };
  }
  const sandbox = await createSandbox({ dataDir: folder, instantImages: true, logger: silentLogger() });
  const stop = async () => {
    await sandbox.close();
    return 0;
  };
  return { url: sandbox.url, kill: stop, stop };
}

async function startProcess(): Promise<{ child: ChildProcess; url: string }> {
  const main = path.join(import.meta.dirname, 'main.ts');
  const child = spawn(process.execPath, [main, '--data', folder, '--instant'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let line = '';
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    line += chunk.toString('utf8');
    if (line.includes('\n')) break;
  }
  return { child, url: (JSON.parse(line) as { url: string }).url };
}

test('a killed stand-in takes up its open jobs, serves its ended ones and remembers every start', async () => {
  const before = await openStandIn();
  const submit = async (state: string) => {
    const { body } = await postJson(`${before.url}/midjourney/mj/submit/imagine`, {
      prompt: 'a boat',
      state,
    });
    return String(body['result']);
  };
  const ended = await submit('ended');
  await follow(`${before.url}/midjourney`, ended);
  await postJson(`${before.url}/_control/latency`, { runningMs: 120_000 });
  const open = [await submit('open'), await submit('open')];
  await follow(`${before.url}/midjourney`, open[0] ?? '', ({ status }) => status !== 'NOT_START');
  await before.kill();

  const after = await openStandIn();
  expect(await getJson(`${after.url}/_control/starts`)).toEqual({ ended: 1, open: 2 });
  const task = (await follow(`${after.url}/midjourney`, ended)).at(-1);
  expect((await fetch(task?.imageUrl ?? '')).status).toBe(200);
  for (const id of open) {
    expect((await follow(`${after.url}/midjourney`, id)).at(-1)).toMatchObject({
      status: 'SUCCESS',
      state: 'open',
    });
  }
  expect(await getJson(`${after.url}/_control/starts`)).toEqual({ ended: 1, open: 2 });
  expect(await after.stop()).toBe(0);
});

test(`${STARTS} starts at once are all accepted, counted and finished`, async () => {
  const { sandbox, stop } = await startSandbox({
    latencies: [
      { wire: 'midjourney', queuedMs: 5, runningMs: 20, progressSteps: 2, concurrency: STARTS / 3 },
    ],
  });
  try {
    const url = sandbox.wires.midjourney;
    const answers = await Promise.all(
      Array.from({ length: STARTS }, (_value, index) =>
        postJson(`${url}/mj/submit/imagine`, { prompt: 'a boat', state: `ref-${index % (STARTS / 2)}` }),
      ),
    );
    expect(answers.every(({ body }) => body['code'] === 1 || body['code'] === 22)).toBe(true);
    const counts = await getJson<Record<string, number>>(`${sandbox.url}/_control/starts`);
    expect(Object.values(counts)).toEqual(Array.from({ length: STARTS / 2 }, () => 2));
    for (const { body } of answers) {
      expect((await follow(url, String(body['result']))).at(-1)?.status).toBe('SUCCESS');
    }
  } finally {
    await stop();
  }
});

test('leaves out what a crash broke and what it cannot read', async () => {
  const options = { directory: folder, maxJobs: 10, maxAgeMs: 60_000, logger: silentLogger() };
  const journal = await openJournal(options);
  await journal.save(endedJob('good', Date.now()));
  await writeFile(path.join(folder, 'jobs', 'broken.json'), '{"id":');
  await writeFile(path.join(folder, 'jobs', 'half.json.abc.part'), '{');
  const again = await openJournal(options);
  expect(again.all().map(({ id }) => id)).toEqual(['good']);
  expect(await readdir(path.join(folder, 'jobs'))).not.toContain('half.json.abc.part');
});

test('forgets the words of jobs that have ended so long ago, and keeps what is counted and what runs', async () => {
  const options = { directory: folder, maxJobs: 10, maxAgeMs: 60_000, logger: silentLogger() };
  const journal = await openJournal(options);
  const said = (id: string, endedAt: number | null): Job => ({
    ...endedJob(id, endedAt ?? 0),
    input: { prompt: `a fox of ${id}`, pictures: ['a.png'] },
    reference: id,
    result: { files: [], texts: [`a red fox of ${id}`], facts: { seed: 7, caption: `one fox of ${id}` } },
    endedAt,
  });
  await journal.save(said('old', Date.now() - 30_000));
  await journal.save(said('new', Date.now()));
  await journal.save({ ...said('open', null), state: 'running' });
  await journal.save(endedJob('ancient', Date.now() - 61_000));
  await journal.forget(20_000);
  const kept = new Map((await openJournal(options)).all().map((job) => [job.id, job]));
  expect(kept.get('old')).toMatchObject({
    input: { pictures: ['a.png'] },
    result: { texts: [], facts: { seed: 7 } },
  });
  expect(JSON.stringify(kept.get('old'))).not.toContain('fox');
  expect(kept.get('new')?.input['prompt']).toBe('a fox of new');
  expect(kept.get('open')?.input['prompt']).toBe('a fox of open');
  expect(journal.starts()).toEqual({ old: 1, new: 1, open: 1 });
});

test('forgets words of jobs as they are by then: a change meanwhile stays, and what is cleared stays away', async () => {
  const options = { directory: folder, maxJobs: 100, maxAgeMs: 60_000, logger: silentLogger() };
  const journal = await openJournal(options);
  const hasWords = (id: string) => journal.get(id)?.input['prompt'] !== undefined;
  /** Begins to forget the words of two jobs; the first is being written. */
  const begin = async (first: string, second: string) => {
    for (const id of [first, second]) await journal.save(endedJob(id, Date.now()));
    const forgetting = journal.forget(-60_000);
    while (hasWords(first)) await setImmediate();
    return { forgetting };
  };
  const { forgetting } = await begin('first', 'changed');
  expect(hasWords('changed')).toBe(true);
  await journal.save({ ...endedJob('changed', Date.now()), isForgotten: true });
  await forgetting;
  expect(journal.get('changed')?.isForgotten).toBe(true);
  expect(hasWords('changed')).toBe(false);

  const late = await begin('second', 'cleared');
  await Promise.all([journal.clear(), late.forgetting]);
  expect(journal.all()).toEqual([]);
  expect(await readdir(path.join(folder, 'jobs'))).toEqual([]);
});

test('removes images that a killed process has not finished, and old ones of no job', async () => {
  const options = { directory: folder, maxJobs: 10, maxAgeMs: 60_000, logger: silentLogger() };
  const journal = await openJournal(options);
  await journal.save(endedJob('kept', Date.now()));
  for (const name of ['kept-0.png', 'lost-0.png', 'new-0.png'])
    await journal.writeImage(name, Buffer.from('x'));
  const pictures = path.join(folder, 'pictures');
  const old = new Date(Date.now() - 61_000);
  for (const name of ['kept-0.png', 'lost-0.png']) await utimes(path.join(pictures, name), old, old);
  await writeFile(path.join(pictures, 'half-0.png.abc.part'), 'x');
  await openJournal(options);
  expect((await readdir(pictures)).toSorted()).toEqual(['kept-0.png', 'new-0.png']);
});

test('drops ended jobs with their images when there are too many or they are too old; open ones stay', async () => {
  const options = { directory: folder, maxJobs: 10, maxAgeMs: 60_000, logger: silentLogger() };
  const journal = await openJournal(options);
  const open: Job = { ...endedJob('open', 1), state: 'running', endedAt: null };
  await journal.save(open);
  await journal.writeImage('job-1-0.png', Buffer.from('x'));
  for (let index = 1; index <= 12; index += 1)
    await journal.save(endedJob(`job-${index}`, Date.now() + index));
  await journal.settle();
  const left = journal.all().map(({ id }) => id);
  expect(left).toContain('open');
  expect(left).not.toContain('job-1');
  expect(left.length).toBeLessThanOrEqual(10);
  expect(await journal.readImage('job-1-0.png')).toBeNull();
  expect(await readFile(path.join(folder, 'jobs', 'open.json'), 'utf8')).toContain('"open"');

  const old = await openJournal({ ...options, maxAgeMs: -60_000 });
  expect(old.all().map(({ id }) => id)).toEqual(['open']);
});

test('forgets what was written before, while more is being written, which stays', async () => {
  const options = { directory: folder, maxJobs: 1_000, maxAgeMs: 60_000, logger: silentLogger() };
  const journal = await openJournal(options);
  const write = (round: string, count: number) =>
    Array.from({ length: count }, async (_value, index) => {
      await journal.writeImage(`${round}-${index}.png`, Buffer.alloc(10_000));
      await journal.save(endedJob(`${round}-${index}`, Date.now()));
    });
  const before = write('before', 40);
  const during = Array.from({ length: 5 }, (_value, round) => {
    const cleared = journal.clear();
    return [cleared, ...write(`during-${round}`, 20)];
  });
  await Promise.all([...before, ...during.flat()]);
  await journal.clear();
  await Promise.all(write('after', 20));
  expect(journal.all()).toHaveLength(20);
  expect(await readdir(path.join(folder, 'jobs'))).toHaveLength(20);
  expect(await readdir(path.join(folder, 'pictures'))).toHaveLength(20);
});

function endedJob(id: string, at: number): Job {
  return {
    id,
    wire: 'midjourney',
    operation: 'imagine',
    reference: id,
    input: { prompt: 'a boat', pictures: [] },
    state: 'finished',
    submittedAt: at,
    startedAt: at,
    endedAt: at,
    result: {
      files: [{ name: `${id}-0.png`, contentType: 'image/png', width: 1, height: 1 }],
      texts: [],
      facts: {},
    },
    failure: null,
    fault: null,
    isForgotten: false,
  };
}

const openTen = () =>
  openJournal({ directory: folder, maxJobs: 10, maxAgeMs: 60_000, logger: silentLogger() });

test.each([
  ['while it is waited for', 30],
  ['before anybody waits for it', 0],
])('keeps no words of the job of a call that ended %s', async (_, pauseMs) => {
  const journal = await openTen();
  const runner = createJobRunner({
    wire: 'openai',
    journal,
    latency: () => ({ ...DEFAULT_LATENCY, queuedMs: 0, runningMs: pauseMs }),
    perform: async () => ({ files: [], texts: ['a red fox'], facts: {} }),
    words: { moderate: 'refused', fail: 'failed' },
    logger: silentLogger(),
  });
  await runner.submit({
    id: 'one',
    operation: 'images',
    reference: null,
    input: { prompt: 'a fox' },
    fault: null,
  });
  if (pauseMs === 0) await vi.waitUntil(() => journal.get('one')?.state === 'finished', { timeout: 100_000 });
  const job = await runner.answered('one', new AbortController().signal);
  expect(job).toMatchObject({ input: { prompt: 'a fox' }, result: { texts: ['a red fox'] } });
  await journal.settle();
  expect(await readFile(path.join(folder, 'jobs', 'one.json'), 'utf8')).not.toContain('fox');
  await runner.stop();
});

test('answers a call whose end can not be written, as on a full disk', async () => {
  const journal = await openTen();
  const runner = createJobRunner({
    wire: 'openai',
    journal,
    latency: () => ({ ...DEFAULT_LATENCY, queuedMs: 0, runningMs: 0 }),
    async perform() {
      await rm(path.join(folder, 'jobs'), { recursive: true });
      return { files: [], texts: ['a red fox'], facts: {} };
    },
    words: { moderate: 'refused', fail: 'failed' },
    logger: silentLogger(),
  });
  await runner.submit({ id: 'one', operation: 'chat', reference: null, input: {}, fault: null });
  expect(await runner.answered('one', AbortSignal.timeout(10_000))).toMatchObject({
    state: 'finished',
    result: { texts: ['a red fox'] },
  });
  await runner.stop();
});
