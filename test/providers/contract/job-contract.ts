import { describe, expect, it } from 'vitest';

import type { FaultName } from '../../../sandbox/faults/faults.ts';
import type { UpstreamError } from '../../../subgraphs/media/domain/failure.ts';
import { extent, takeTurn } from '../../kit/extent.ts';
import {
  findCapabilities,
  catchFailure,
  fetchResult,
  isMp4,
  isPng,
  must,
  SECRET,
} from '../environment/environment.ts';
import { startRecordingProxy, type SentRequest } from '../environment/recording-proxy.ts';
import type { ProviderUnderTest } from './contract.ts';
import {
  jobHarness,
  listFiles,
  findHandle,
  readHeaders,
  isFinal,
  readUrl,
  type JobHarness,
} from './job-harness.ts';
import { REFERENCE, type ContractRow, type JobRow } from './row.ts';
import { documented, expectDocumented, expectOneOf } from './wire-shape.ts';

/** The contract of a capability that starts work and asks for it. */
export function jobContract({ row, number, world }: ProviderUnderTest, job: JobRow): void {
  const bench = () => jobHarness(row, job, world());
  const capability = findCapabilities(row.provider)?.jobs?.[job.kind];
  const can = {
    find: job.canFind ?? capability?.find !== undefined,
    cancel: capability?.cancel !== undefined,
  };
  // Its tests share a world: one after the other.
  describe(`${job.kind} as a job`, { concurrent: false }, () => {
    const suite = { row, number, job, can, bench };
    wellContract(suite);
    // The capabilities of a provider share how they fail: of each its first, in `npm run test:all` every one.
    if (extent(job !== row.jobs[0], false)) return;
    startContract(suite);
    statusContract(suite);
    describe.runIf(job.operations.erase !== undefined)('erasing it', () => {
      eraseContract(suite);
    });
    describe.runIf(can.cancel)('cancelling it', () => {
      cancelContract(suite);
    });
  });
}

/** What the tests of one job share; `can` says which optional capabilities it has. */
interface Suite {
  readonly row: ContractRow;
  readonly number: number;
  readonly job: JobRow;
  readonly can: { readonly find: boolean; readonly cancel: boolean };
  readonly bench: () => JobHarness;
}

/** What the stand-in counts after one start: nothing where the wire carries no reference. */
function onceStarted({ referenceField, carried = (reference) => reference }: JobRow): object {
  return referenceField === null ? {} : { [carried(REFERENCE)]: 1 };
}

function isPlayed({ unplayed = [] }: JobRow, fault: FaultName): boolean {
  return !unplayed.includes(fault);
}

function wellContract({ row, job, can, bench }: Suite): void {
  it('starts once, in documented words, with its reference in the wire’s own field', async () => {
    const { environment, start, end, carried } = bench();
    const ended = await end(await start());
    expect(listFiles(ended)).toHaveLength(job.outcome.files);
    expect(ended).toMatchObject({ outcome: { texts: { length: job.outcome.texts } } });
    expect(await environment.starts()).toEqual(onceStarted(job));
    const { basePath = row.basePath } = job;
    const startPath = basePath + documented(row.fixture, job.operation).path;
    const isStart = ({ method, path }: SentRequest) => method === 'POST' && path === startPath;
    const sent = must(environment.proxy.sent.find(isStart), 'request');
    const fields = await expectDocumented(sent, documented(row.fixture, job.operation), basePath);
    const { referenceField: field } = job;
    expect(fields).toEqual({
      ...job.fields,
      ...(typeof field === 'string' ? { [field]: carried(REFERENCE) } : {}),
    });
    const header = typeof field === 'object' && field !== null ? { [field.header]: REFERENCE } : {};
    expect(sent.headers).toMatchObject(header);
    const others = [job.operations.status, ...(job.operations.besides ?? [])];
    for (const request of environment.proxy.sent.filter((one) => one !== sent)) {
      await expectOneOf(request, { row: { ...row, basePath }, names: others });
    }
    for (const { headers } of environment.proxy.sent) expect(headers).toMatchObject(row.headers);
  });

  it('shows a progress that grows, and what can be seen already', async () => {
    const { environment, start, follow } = bench();
    // Long enough to be seen waiting by a busy machine, too.
    await environment.setLatency({ wire: row.provider, queuedMs: 500, runningMs: 500, progressSteps: 4 });
    const seen = await follow(await start(), isFinal);
    const running = seen.filter((status) => status.state === 'running');
    const numbers = running.flatMap(({ progress }) => (progress === null ? [] : [progress]));
    expect(seen[0]?.state).toBe(job.tellsWaiting === false ? 'running' : 'queued');
    expect(new Set(numbers).size > 1).toBe(job.tellsProgress ?? true);
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
    expect(numbers.every((number) => number >= 0 && number <= 100)).toBe(true);
    const partials = running.flatMap(({ partial }) => partial ?? []);
    expect(partials.length > 0).toBe(job.outcome.files > 0 && job.results?.isHidden !== true);
  });

  it('hands out results without credentials, and keeps none in its handle', async () => {
    const { environment, start, end } = bench();
    const handle = await start();
    const ended = await end(handle);
    const { needsKey = false, needsKeyAtHome, type = 'png' } = job.results ?? {};
    const keyAtHome = needsKeyAtHome === true ? row.headers : {};
    expect(JSON.stringify([handle, needsKey ? listFiles(ended).map(readUrl) : ended])).not.toContain(SECRET);
    for (const file of listFiles(ended)) {
      const { status, bytes } = await fetchResult(environment, readUrl(file), {
        ...readHeaders(file),
        ...keyAtHome,
      });
      expect([status, type === 'png' ? isPng(bytes) : isMp4(bytes)]).toEqual([200, true]);
    }
  });

  it.runIf(can.find)('is found again by its reference, and only by that', async () => {
    const { start, find } = bench();
    const [first, second] = [await start('task-a/1/1'), await start('task-b/1/1')];
    expect(await find('task-a/1/1')).toEqual(first);
    expect(await find('task-b/1/1')).toEqual(second);
    expect(await find('task-a/1/2')).toBe('absent');
  });

  it.runIf(job.outcome.files > 0 && job.results?.isLasting !== true)(
    'gives a fresh address with the next status once the old one has expired',
    async () => {
      const { environment, start, end } = bench();
      const handle = await start();
      const key = job.results?.needsKeyAtHome === true ? row.headers : {};
      const old = readUrl(listFiles(await end(handle))[0]);
      await environment.injectFault({
        wire: row.provider,
        operation: job.operations.download,
        fault: 'expired-url',
      });
      expect((await fetchResult(environment, old, key)).status).toBeGreaterThanOrEqual(400);
      const fresh = readUrl(listFiles(await end(handle))[0]);
      expect(fresh).not.toBe(old);
      expect((await fetchResult(environment, fresh, key)).status).toBe(200);
    },
  );
}

function startContract({ row, number, job, can, bench }: Suite): void {
  const wire = row.provider;
  const { operation } = job;

  it('whose start is refused for now says how long to wait, and is not sent again', async () => {
    const { environment, start, startsSent } = bench();
    await environment.injectFault({ wire, operation, fault: 'rate-limited', retryAfter: 7 });
    expect(await catchFailure(start())).toMatchObject({
      code: 'RATE_LIMITED',
      retryable: true,
      retryAfter: 7,
      startUnknown: false,
    });
    expect(startsSent()).toBe(1);
  });

  const refusals = [
    ['queue-full', { code: 'RATE_LIMITED', retryable: true }],
    ['moderation', { code: 'MODERATION_REFUSED', retryable: false }],
  ] as const;

  it.each(refusals.filter(([fault]) => isPlayed(job, fault)))(
    'whose start is refused (%s) certainly did not happen',
    async (fault, expected) => {
      const { environment, start } = bench();
      await environment.injectFault({ wire, operation, fault });
      expect(await catchFailure(start())).toMatchObject({ ...expected, startUnknown: false });
      expect(await environment.starts()).toEqual({});
    },
  );

  it.runIf(isPlayed(job, 'retired-model'))(
    'whose model has ended says so: no outage, no mistake of its caller’s, and not sent again',
    async () => {
      const { environment, start, startsSent } = bench();
      await environment.injectFault({ wire, operation, fault: 'retired-model' });
      const error = await catchFailure(start());
      expect(error).toMatchObject({ code: 'MODEL_GONE', retryable: false, ofBinding: true });
      expect([error.startUnknown, startsSent()]).toEqual([false, 1]);
      expect(await environment.starts()).toEqual({});
    },
  );

  it('whose start finds nobody listening certainly did not happen', async () => {
    const { start, context } = bench();
    const closed = await startRecordingProxy(null);
    await closed.close();
    const { endpoints = {} } = context.connection;
    const nowhere = Object.fromEntries(Object.keys(endpoints).map((name) => [name, closed.origin]));
    const connection = { ...context.connection, baseUrl: closed.origin, endpoints: nowhere };
    const error = await catchFailure(start(REFERENCE, { ...context, connection }));
    expect(error).toMatchObject({ code: 'UNAVAILABLE', retryable: true, startUnknown: false });
  });

  it('whose start shows no credentials is unavailable, which is not its caller’s fault', async () => {
    const { start, context, environment } = bench();
    const connection = { ...context.connection, headers: {}, credentials: {} };
    const error = await catchFailure(start(REFERENCE, { ...context, connection }));
    expect(error).toMatchObject({ code: 'UNAVAILABLE', retryable: false, startUnknown: false });
    expect(await environment.starts()).toEqual({});
  });

  const unclear = [
    ['half an answer', { fault: 'malformed' }],
    ['a page in place of an answer', { fault: 'wrong-content-type' }],
    ['less than was announced', { fault: 'wrong-length' }],
    ['a broken connection', { fault: 'cut' }],
    ['an error after it was carried out', { fault: 'server-error', accepted: true }],
  ] as const;

  it.each(takeTurn(unclear, number))(
    'whose start got %s may have happened, and is never sent again',
    async (_what, fault) => {
      const { environment, start, startsSent } = bench();
      await environment.injectFault({ wire, operation, ...fault });
      const error = await catchFailure(start());
      expect(error).toMatchObject({ code: 'UNAVAILABLE', retryable: true, startUnknown: true });
      expect(startsSent()).toBe(1);
      expect(await environment.starts()).toEqual(onceStarted(job));
    },
  );

  it.runIf(can.find).each(takeTurn(unclear, number))(
    'whose start got %s is found, and goes on',
    async (_what, fault) => {
      const own = bench();
      await own.environment.injectFault({ wire, operation, ...fault });
      await catchFailure(own.start());
      expect((await own.end(await findHandle(own))).state).toBe('finished');
      expect(await own.environment.starts()).toEqual(onceStarted(job));
    },
  );

  it.runIf(can.find)('whose start got an error before it was carried out is known to be absent', async () => {
    const { environment, start, find } = bench();
    await environment.injectFault({ wire, operation, fault: 'server-error' });
    expect(await catchFailure(start())).toMatchObject({ code: 'UNAVAILABLE', startUnknown: true });
    expect(await find(REFERENCE)).toBe('absent');
  });

  const slowOrLarge = [
    () =>
      it('whose start nobody waits for any more may have happened', async ({ expect }) => {
        const { environment, start, context, startsSent } = bench();
        await environment.injectFault({ wire, operation, fault: 'slow', delayMs: 20_000 });
        const giveUp = new AbortController();
        const started = catchFailure(start(REFERENCE, { ...context, signal: giveUp.signal }));
        await expect.poll(startsSent).toBe(1);
        giveUp.abort();
        expect(await started).toMatchObject({ retryable: true, startUnknown: true });
        await expect.poll(() => environment.starts()).toEqual(onceStarted(job));
        // It is carried out all the same, and the next test must not meet it.
        await expect.poll(() => environment.jobStates()).toHaveLength(1 + (job.handsOver ?? 0));
      }),
    () =>
      it('whose start got an answer that is too large may have happened', async () => {
        const { environment, start } = bench();
        const { path } = documented(row.fixture, operation);
        environment.proxy.respondNext(path, { headers: { 'content-length': String(1 << 30) }, body: '{' });
        expect(await catchFailure(start())).toMatchObject({ retryable: true, startUnknown: true });
      }),
    () =>
      it('whose start is answered late is waited for', async () => {
        const { environment, start } = bench();
        await environment.injectFault({ wire, operation, fault: 'slow', delayMs: 400 });
        await start();
        expect(await environment.starts()).toEqual(onceStarted(job));
      }),
  ];
  for (const declare of takeTurn(slowOrLarge, number)) declare();

  const listingFaults = ['malformed', 'server-error', 'rate-limited'] as const;
  it.runIf(can.find).each(takeTurn(listingFaults, number))(
    'whose listing of starts does not answer (%s) is neither found nor absent',
    async (fault) => {
      const { environment, start, find } = bench();
      await start();
      const many = fault === 'rate-limited' ? { retryAfter: 60 } : {};
      await environment.injectFault({ wire, operation: job.operations.list, fault, ...many });
      expect(await catchFailure(find(REFERENCE))).toMatchObject({ retryable: true });
    },
  );
}

function statusContract({ row, number, job, bench }: Suite): void {
  const wire = row.provider;
  const { status: operation } = job.operations;

  const passing = [
    ['is told to wait', { fault: 'rate-limited', retryAfter: 0 }],
    ['is cut off', { fault: 'cut' }],
    ['is slow', { fault: 'slow', delayMs: 300 }],
  ] as const;
  it.each(takeTurn(passing, number))('whose status call %s is asked again at once', async (_what, fault) => {
    const { environment, start, status } = bench();
    const handle = await start();
    await environment.injectFault({ wire, operation, ...fault });
    expect((await status(handle)).state).toMatch(/^(queued|running|finished)$/);
  });

  const lasting = [
    ['an error', { fault: 'server-error' }],
    ['half an answer', { fault: 'malformed' }],
    ['a page in place of an answer', { fault: 'wrong-content-type' }],
    ['less than was announced, again and again', { fault: 'wrong-length', times: 4 }],
    ['a long pause', { fault: 'rate-limited', retryAfter: 60 }],
  ] as const;
  it.each(takeTurn(lasting, number))('whose status call gets %s is not lost', async (_what, fault) => {
    const { environment, start, status, end } = bench();
    const handle = await start();
    await environment.injectFault({ wire, operation, ...fault });
    const error = await catchFailure(status(handle));
    expect(error.retryable).toBe(true);
    expect(error.code).toMatch(/^(UNAVAILABLE|RATE_LIMITED)$/);
    expect(error.retryAfter).toBe('retryAfter' in fault ? 60 : undefined);
    expect((await end(handle)).state).toBe('finished');
    expect(await environment.starts()).toEqual(onceStarted(job));
  });

  it('is neither lost nor ended where its upstream refuses the credentials', async () => {
    const { start, context, job: capability } = bench();
    const handle = await start();
    const connection = { ...context.connection, headers: {}, credentials: {} };
    const stranger = { ...context, connection };
    const asked = {
      status: () => capability.status(handle, stranger),
      find: () => capability.find?.(REFERENCE, stranger),
      cancel: () => capability.cancel?.(handle, stranger),
      erase: () => job.operations.erase && capability.erase?.(handle, stranger),
    };
    for (const [name, ask] of Object.entries(asked)) {
      const expected = job.refusedAs?.[name as 'find'] ?? ['UNAVAILABLE', false];
      const refused = ({ code, retryable }: UpstreamError) => [code, retryable];
      expect([name, (await Promise.resolve(ask()).catch(refused)) ?? expected]).toEqual([name, expected]);
    }
  });

  it('runs when its state is a word that nobody knows', async () => {
    const { environment, start, status } = bench();
    const handle = await start();
    environment.proxy.respondNext('/', job.unknownState);
    expect((await status(handle)).state).toBe('running');
  });

  it.each((['lost', 'lost-silently'] as const).filter((fault) => isPlayed(job, fault)))(
    'is lost when its upstream has forgotten it (%s)',
    async (fault) => {
      const { environment, start, status } = bench();
      const handle = await start();
      await environment.injectFault({ wire, operation, fault });
      expect(await catchFailure(status(handle))).toMatchObject({ code: 'LOST', retryable: true });
    },
  );

  const failures = [
    ['upstream-error', { code: 'UNAVAILABLE', retryable: true }],
    ['late-moderation', { code: 'MODERATION_REFUSED', retryable: false }],
  ] as const;

  it.each(failures.filter(([fault]) => isPlayed(job, fault)))(
    'has failed when its upstream says so (%s)',
    async (fault, error) => {
      const { environment, start, end } = bench();
      await environment.injectFault({ wire, operation: job.operation, fault });
      expect(await end(await start())).toMatchObject({ state: 'failed', error });
    },
  );

  const others = [
    () =>
      it('whose status call gets too large an answer is not lost', async () => {
        const { environment, start, status } = bench();
        const handle = await start();
        const padding = 'x'.repeat((job.mostStatusBytes ?? 4 << 20) + 1);
        environment.proxy.respondNext('/', { body: { padding } });
        expect(await catchFailure(status(handle))).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
      }),
    () =>
      it('goes on running while it stalls: giving up is not the provider’s to decide', async () => {
        const { environment, start, follow, status } = bench();
        await environment.injectFault({ wire, operation: job.operation, fault: 'stall' });
        const handle = await start();
        await follow(handle, ({ state }) => state === 'running');
        expect((await status(handle)).state).toBe('running');
      }),
    () =>
      it('takes no credentials along when its upstream points elsewhere', async () => {
        const { environment, start, status, context, job: capability } = bench();
        const handle = await start();
        const elsewhere = await startRecordingProxy(null);
        try {
          const away = { status: 302, headers: { location: `${elsewhere.origin}/x` } };
          environment.proxy.respondNext('/', away);
          await catchFailure(status(handle));
          // Nobody said that this origin may be trusted, and it is not public.
          expect(elsewhere.sent).toEqual([]);
          environment.proxy.respondNext('/', away);
          const connection = { ...context.connection, resultOrigins: [elsewhere.origin] };
          await catchFailure(capability.status(handle, { ...context, connection }));
          expect(elsewhere.sent).toHaveLength(job.postsStatus === true ? 0 : 1);
          expect(JSON.stringify(elsewhere.sent)).not.toContain(SECRET);
        } finally {
          await elsewhere.close();
        }
      }),
  ];
  for (const declare of takeTurn(others, number)) declare();
}

function eraseContract({ row, job, bench }: Suite): void {
  it('is one documented request, after which nothing of it is left, and is done when there is nothing', async () => {
    const { environment, start, end, status, erase } = bench();
    const handle = await start();
    await end(handle);
    await erase(handle);
    const wanted = documented(row.fixture, must(job.operations.erase, 'operation'));
    await expectDocumented(must(environment.proxy.sent.at(-1), 'request'), wanted, row.basePath);
    expect(await catchFailure(status(handle))).toMatchObject({ code: 'LOST' });
    await erase(handle);
  });
}

function cancelContract({ row, job, bench }: Suite): void {
  const wire = row.provider;

  const stoppable = job.cancelsRunning === false ? (['queued'] as const) : (['queued', 'running'] as const);

  it.runIf(job.cancelsRunning === false)('while it is running comes too late', async () => {
    const { environment, start, follow, cancel } = bench();
    await environment.setLatency({ wire, queuedMs: 0, runningMs: 60_000, progressSteps: 100 });
    const handle = await start();
    await follow(handle, ({ state }) => state === 'running');
    expect(await cancel(handle)).toBe('too-late');
  });

  it.each(stoppable)('while it is %s ends it', async (state) => {
    const { environment, start, follow, cancel, end } = bench();
    const queuedMs = state === 'queued' ? 60_000 : 0;
    await environment.setLatency({ wire, queuedMs, runningMs: 60_000, progressSteps: 100 });
    const handle = await start();
    await follow(handle, (now) => now.state === state);
    expect(await cancel(handle)).toBe('cancelled');
    const after = await end(handle).catch((error: unknown) => ({ state: 'failed', error }));
    const isForgotten = state === 'queued' && job.forgetsCancelled === true;
    const error = isForgotten ? { code: 'LOST' } : { retryable: false };
    expect(after).toMatchObject({ state: 'failed', error });
    const { path } = documented(row.fixture, job.operations.cancel);
    const tail = must(path.split('{id}').at(-1), 'path');
    const sent = must(
      environment.proxy.sent.find((request) => request.path.endsWith(tail)),
      'cancel request',
    );
    await expectDocumented(sent, documented(row.fixture, job.operations.cancel), row.basePath);
  });

  it('after its end comes too late', async () => {
    const { start, end, cancel } = bench();
    const handle = await start();
    await end(handle);
    expect(await cancel(handle)).toBe('too-late');
  });

  it.each(['server-error', 'rate-limited'] as const)('can be tried again after %s', async (fault) => {
    const { environment, start, cancel } = bench();
    await environment.setLatency({ wire, queuedMs: 60_000 });
    const handle = await start();
    await environment.injectFault({ wire, operation: job.operations.cancel, fault });
    expect(await catchFailure(cancel(handle))).toMatchObject({ retryable: true });
    expect(await cancel(handle)).toBe('cancelled');
  });
}
