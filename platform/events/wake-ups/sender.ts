import { toError } from '../../errors.ts';
import type { Logger } from '../../process/logger.ts';
import type { Outbox } from './outbox.ts';

/** Time in which wake-ups are collected. */
const BATCH_MS = 50;
/** Longest pause before a failed batch is retried. */
const LONGEST_RETRY_MS = 5000;
/** Payloads per statement: 100 of 8,000 bytes. */
const PAYLOADS_PER_BATCH = 100;

/** Sends wake-ups in batches. */
export interface Sender {
  /** Schedules a batch. */
  wake(): void;
  /** Tries at once what could not be sent: the way is free again. */
  retry(): void;
  /** Sends the rest (one attempt) and stops. */
  close(): Promise<void>;
}

export interface SenderOptions {
  readonly send: (payloads: readonly string[]) => Promise<void>;
  readonly outbox: Outbox;
  readonly logger: Logger;
}

/** Sends the outbox in batches, one at a time; a failed batch goes back and is retried with growing pauses. */
export function createSender({ send, outbox, logger }: SenderOptions): Sender {
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;
  let closed = false;
  let failures = 0;

  async function sendBatch(): Promise<void> {
    const payloads = outbox.take(PAYLOADS_PER_BATCH);
    if (payloads.length === 0) return;
    try {
      await send(payloads);
      failures = 0;
    } catch (thrown) {
      outbox.putBack(payloads);
      failures += 1;
      if (failures === 1 || closed)
        logger.warn({ error: toError(thrown) }, 'cannot send wake-ups; they will be retried');
    }
  }

  function wake(): void {
    if (closed || timer || sending) return;
    const pause = Math.min(BATCH_MS * 2 ** Math.min(failures, 10), LONGEST_RETRY_MS);
    timer = setTimeout(() => {
      timer = undefined;
      sending = sendBatch().finally(() => {
        sending = undefined;
        if (outbox.size > 0) wake();
      });
    }, pause);
  }

  return {
    wake,
    retry() {
      failures = 0;
      clearTimeout(timer);
      timer = undefined;
      if (outbox.size > 0) wake();
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await sending;
      while (outbox.size > 0) {
        const before = failures;
        await sendBatch();
        if (failures > before) return;
      }
    },
  };
}
