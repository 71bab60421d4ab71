import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { rest, until } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/** PP_AUTO_REFUND at a live Kiln: what an upstream breaks or refuses is given back. */

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln({ isQuick: true });
});
afterAll(() => kiln?.close());

/** The upstream is tried several times, with pauses. */
const PATIENCE_MS = 60_000;

const get = async (path: string) => (await rest(kiln.url, 'GET', path)).body.data;

/** Every try of it fails so. */
async function boughtWhile(
  fault: string,
  times: number,
): Promise<{ readonly paymentId: string; readonly taskId: string }> {
  await kiln.control('faults', { wire: 'midjourney', operation: 'imagine', fault, times });
  const request = { userId: 'buyer-8', metadata: { prompt: 'a fox' } };
  const { body } = await rest(kiln.url, 'POST', '/payment/checkout/poster', request);
  const { paymentId, sessionId } = body.data;
  const { execution } = await get(`/payment/success?session_id=${sessionId}&payment_id=${paymentId}`);
  return { paymentId, taskId: execution.taskId };
}

const ended = ({ taskId }: { readonly taskId: string }) =>
  until(
    () => get(`/templates/execution/${taskId}/progress`),
    ({ status }) => !['pending', 'running'].includes(status),
    PATIENCE_MS,
  );

describe('what was paid for an execution that fails', () => {
  it.each([
    ['comes back when moderation refused it', 'moderation', 1, 'refunded'],
    ['comes back when the upstream broke it', 'upstream-error', 20, 'refunded'],
  ])('%s', async (_, fault, times, status) => {
    const bought = await boughtWhile(fault, times);
    expect(await ended(bought)).toMatchObject({ status: 'failed' });
    const payment = await until(
      () => get(`/payment/${bought.paymentId}`),
      (now) => now.status === status,
      PATIENCE_MS,
    );
    expect(payment).toMatchObject({ status });
  });
});
