import { describe, expect, it } from 'vitest';

import type { FaultName } from '../../../sandbox/faults/faults.ts';
import type { Connection } from '../../../subgraphs/media/providers/contract/provider.ts';
import { extent, takeTurn } from '../../kit/extent.ts';
import { makeContext, catchFailure, must, SECRET } from '../environment/environment.ts';
import { startRecordingProxy } from '../environment/recording-proxy.ts';
import type { ProviderUnderTest } from './contract.ts';
import type { ShortRow } from './row.ts';
import { documented, expectDocumented } from './wire-shape.ts';

const REFERENCE = '01890000-0000-7000-8000-000000000002/1/1';

/** The contract of work that is answered at once: nothing is ever sent twice, because nobody can be asked afterwards. */
export function shortContract({ row, number, world }: ProviderUnderTest, short: ShortRow): void {
  const wire = row.provider;
  const { operation, before = [] } = short;
  const { path } = documented(row.fixture, operation);
  const run = (change: Partial<Connection> & { readonly signal?: AbortSignal } = {}) => {
    const { signal, ...connection } = change;
    const provider = must(world().providers[wire], wire);
    const usual = world().connection(row.basePath, row.headers);
    return short.run(provider, {
      ...makeContext({ ...usual, ...connection }, signal),
      reference: REFERENCE,
    });
  };
  /** What goes before it is not counted. */
  const isBefore = (sentPath: string) =>
    before.some((name) => sentPath === row.basePath + documented(row.fixture, name).path);
  const sent = () => world().proxy.sent.filter((request) => !isBefore(request.path));

  // Its tests share a world: one after the other.
  describe(`${short.title}, answered at once`, { concurrent: false }, () => {
    it('is asked for once, in documented words', async () => {
      const answer = await run();
      short.check(answer);
      expect(JSON.stringify(answer)).not.toContain(SECRET);
      expect(sent()).toHaveLength(1);
      const request = must(sent()[0], 'request');
      expect(await expectDocumented(request, documented(row.fixture, operation), row.basePath)).toMatchObject(
        short.fields,
      );
      expect(request.headers).toMatchObject(row.headers);
      expect(await world().starts()).toEqual(short.hasReference ? { [REFERENCE]: 1 } : {});
    });

    const isPlayed = (fault: FaultName) => short.unplayed?.includes(fault) !== true;

    it.runIf(isPlayed('retired-model'))(
      'is refused as gone when its model has ended: no outage, no mistake of its caller’s',
      async () => {
        await world().injectFault({ wire, operation, fault: 'retired-model' });
        const error = await catchFailure(run());
        expect(error).toMatchObject({ code: 'MODEL_GONE', retryable: false, ofBinding: true });
        expect([error.startUnknown, sent().length]).toEqual([false, 1]);
      },
    );

    it.each((['moderation', 'late-moderation'] as const).filter(isPlayed))(
      'is refused for good (%s)',
      async (fault) => {
        await world().injectFault({ wire, operation, fault });
        const error = await catchFailure(run());
        expect(error).toMatchObject({ code: 'MODERATION_REFUSED', retryable: false, startUnknown: false });
      },
    );

    // The work of a provider shares how it fails: of each its first, in `npm run test:all` every one.
    if (extent(short !== row.short[0], false)) return;

    it('is waited for when it is slow', async () => {
      await world().injectFault({ wire, operation, fault: 'slow', delayMs: 400 });
      const answer = await run();
      expect(sent()).toHaveLength(1);
      short.check(answer);
    });

    it('is refused for now with the pause that the upstream asks for, and not sent again', async () => {
      await world().injectFault({ wire, operation, fault: 'rate-limited', retryAfter: 7 });
      expect(await catchFailure(run())).toMatchObject({
        code: 'RATE_LIMITED',
        retryable: true,
        retryAfter: 7,
        startUnknown: false,
      });
      expect(sent()).toHaveLength(1);
    });

    const unclear = [
      ['an error before it was carried out', { fault: 'server-error' }],
      ['an error after it was carried out', { fault: 'server-error', accepted: true }],
      ['a failure half-way', { fault: 'upstream-error' }],
      ['half an answer', { fault: 'malformed' }],
      ['a page in place of an answer', { fault: 'wrong-content-type' }],
      ['less than was announced', { fault: 'wrong-length' }],
      ['a broken connection', { fault: 'cut' }],
    ] as const;
    const played = unclear.filter(
      ([, { fault }]) => isPlayed(fault) && (short.isFile !== true || fault !== 'malformed'),
    );

    it.each(takeTurn(played, number))(
      'may have happened after %s, and is not sent again',
      async (_what, fault) => {
        await world().injectFault({ wire, operation, ...fault });
        expect(await catchFailure(run())).toMatchObject({
          code: 'UNAVAILABLE',
          retryable: true,
          startUnknown: true,
        });
        expect(sent()).toHaveLength(1);
      },
    );

    it('may have happened when it is given up, and the upstream is hung up on', async ({ expect }) => {
      await world().injectFault({ wire, operation, fault: 'slow', delayMs: 20_000 });
      const giveUp = new AbortController();
      const failed = catchFailure(run({ signal: giveUp.signal }));
      await expect.poll(() => sent().length).toBe(1);
      giveUp.abort();
      expect(await failed).toMatchObject({ retryable: true, startUnknown: true });
      // It is carried out all the same, and the next test must not meet it.
      const end = short.isInterrupted === true ? /^(finished|cancelled)$/ : /^finished$/;
      await expect.poll(() => world().jobStates()).toEqual([expect.stringMatching(end)]);
    });

    it('may have happened when it takes longer than its binding allows', async ({ expect }) => {
      await world().injectFault({ wire, operation, fault: 'slow', delayMs: 20_000 });
      expect(await catchFailure(run({ callTimeoutMs: 100 }))).toMatchObject({
        code: 'TIMED_OUT',
        startUnknown: true,
      });
      // It is carried out all the same, and the next test must not meet it.
      await expect.poll(() => world().jobStates()).not.toEqual([]);
    });

    it('may have happened after an answer that is too large', async () => {
      world().proxy.respondNext(path, { headers: { 'content-length': String(1 << 30) }, body: '{' });
      expect(await catchFailure(run())).toMatchObject({ retryable: true, startUnknown: true });
    });

    it('is certain not to have happened when nobody listens', async () => {
      const closed = await startRecordingProxy(null);
      await closed.close();
      expect(await catchFailure(run({ baseUrl: closed.origin }))).toMatchObject({
        code: 'UNAVAILABLE',
        retryable: true,
        startUnknown: false,
      });
    });

    it('is unavailable, not the caller’s fault, when the credentials are refused', async () => {
      const error = await catchFailure(run({ headers: {} }));
      expect(error).toMatchObject({ code: 'UNAVAILABLE', retryable: false, startUnknown: false });
    });

    it('is sent nowhere else, whatever the upstream says', async () => {
      const elsewhere = await startRecordingProxy(null);
      try {
        const location = `${elsewhere.origin}/x`;
        world().proxy.respondNext(path, { status: 307, headers: { location }, body: {} });
        await catchFailure(run());
        expect(elsewhere.sent).toEqual([]);
      } finally {
        await elsewhere.close();
      }
    });
  });
}
