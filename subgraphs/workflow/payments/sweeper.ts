import { toError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { CheckoutDependencies } from './checkout.ts';
import { processEvent, pruneEvents } from './events.ts';
import { reconcile, type ReconcileDependencies } from './reconcile.ts';
import type { StoredPayment } from './store.ts';

/** Looks again at what nobody told us of: payments that stay open, events that we were away for. */
export interface PaymentSweeper {
  start(): void;
  /** Waits for a sweep that is running. */
  stop(): Promise<void>;
  /** One sweep now. */
  sweep(): Promise<void>;
}

export interface PaymentSweeperDependencies {
  readonly selling: ReconcileDependencies & CheckoutDependencies;
  readonly logger: Logger;
  /** Milliseconds between sweeps (default 120,000), and the age at which a payment is looked at (default 300,000). */
  readonly everyMs?: number;
  readonly overdueMs?: number;
}

const BATCH = 200;
const PRUNED = 1_000;
/** How far back events are asked for that did not reach us. */
const AWAY_MS = 3 * 86_400_000;

export function createPaymentSweeper(dependencies: PaymentSweeperDependencies): PaymentSweeper {
  const { everyMs = 120_000 } = dependencies;
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;
  const sweepOnce = (): Promise<void> => {
    // One at a time: a slow provider must not pile up sweeps.
    running ??= sweep(dependencies, stopping.signal).finally(() => {
      running = null;
    });
    return running;
  };
  return {
    start() {
      timer = setInterval(() => void sweepOnce(), everyMs).unref();
    },
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
    sweep: sweepOnce,
  };
}

async function sweep(
  { selling, logger, overdueMs = 300_000 }: PaymentSweeperDependencies,
  stopping: AbortSignal,
): Promise<void> {
  const guarded = async (what: string, work: () => Promise<unknown>) => {
    if (stopping.aborted) return;
    try {
      await work();
    } catch (thrown) {
      // The next sweep looks again; one that fails keeps no other from being looked at.
      logger.warn({ error: toError(thrown) }, what);
    }
  };
  await guarded('events of the payment provider could not be pruned', () =>
    pruneEvents(selling.database, PRUNED),
  );
  let overdue: readonly StoredPayment[] = [];
  await guarded('open payments could not be read', async () => {
    overdue = await selling.store.pendingSince(new Date(Date.now() - overdueMs), BATCH);
  });
  for (const payment of overdue) {
    await guarded('a payment could not be looked at', () => reconcile(selling, payment.id));
  }
  await guarded('events that did not reach us could not be asked for', async () => {
    const missed = await selling.provider.undelivered(new Date(Date.now() - AWAY_MS));
    const again = {
      ...selling,
      reconcile: (id: string, sessionId?: string) =>
        reconcile(selling, id, sessionId === undefined ? {} : { sessionId }),
    };
    for (const event of missed) {
      await guarded('an event could not be processed', () => processEvent(again, event));
    }
  });
}
