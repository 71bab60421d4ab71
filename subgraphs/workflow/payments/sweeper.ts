import { withAdvisoryLock } from '../../../platform/database/advisory-lock.ts';
import { AppError, toError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { CheckoutDependencies } from './checkout.ts';
import { processEvent, pruneEvents } from './events.ts';
import { reconcile, type ReconcileDependencies } from './reconcile.ts';

/** Looks again at what nobody told us of: payments that stay open, events that we were away for. */
export interface PaymentSweeper {
  start(): void;
  /** Waits for a sweep that is running. */
  stop(): Promise<void>;
  /** One sweep now; none while another process is at it. */
  sweep(): Promise<void>;
}

/** What the sweeper needs. */
export interface PaymentSweeperDependencies {
  readonly commerce: ReconcileDependencies & CheckoutDependencies;
  readonly logger: Logger;
  /** Milliseconds between sweeps (default 120,000), and the age at which a payment is looked at (default 300,000). */
  readonly everyMs?: number;
  readonly overdueMs?: number;
}

const PRUNED = 1_000;
/** How far back events are asked for that did not reach us. */
const AWAY_MS = 3 * 86_400_000;

/** Makes the sweeper; it stands still until it is started. */
export function createPaymentSweeper(dependencies: PaymentSweeperDependencies): PaymentSweeper {
  const { everyMs = 120_000 } = dependencies;
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;
  const sweepOnce = (): Promise<void> => {
    // One at a time: a slow provider must not pile up sweeps.
    running ??= sweepAlone(dependencies, stopping.signal).finally(() => {
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

/** Of several processes only the one that gets the lock does it: the provider is asked once, not by each of them. */
async function sweepAlone(dependencies: PaymentSweeperDependencies, stopping: AbortSignal): Promise<void> {
  const { commerce, logger } = dependencies;
  try {
    await withAdvisoryLock(commerce.database, 'workflow.payments.sweep', () => sweep(dependencies, stopping));
  } catch (thrown) {
    logger.warn({ error: toError(thrown) }, 'the sweep of payments could not begin');
  }
}

async function sweep(dependencies: PaymentSweeperDependencies, stopping: AbortSignal): Promise<void> {
  const { commerce, logger } = dependencies;
  /** Whether going on makes sense: a provider that is away is asked again by the next sweep. */
  const guarded = async (what: string, work: () => Promise<unknown>): Promise<boolean> => {
    if (stopping.aborted) return false;
    try {
      await work();
      return true;
    } catch (thrown) {
      // The next sweep looks again; one that fails keeps no other from being looked at.
      logger.warn({ error: toError(thrown) }, what);
      return !(thrown instanceof AppError && thrown.code === 'UNAVAILABLE');
    }
  };
  await guarded('events of the payment provider could not be pruned', () =>
    pruneEvents(commerce.database, PRUNED),
  );
  await guarded('open payments could not be read', () => reconcilePending(dependencies, guarded));
  await guarded('events that did not reach us could not be asked for', () =>
    processUndelivered(commerce, guarded),
  );
}

type Guarded = (what: string, work: () => Promise<unknown>) => Promise<boolean>;

/** Every open payment of some age, a batch after the other, so that no number of them hides the rest. */
async function reconcilePending(
  { commerce, overdueMs = 300_000 }: PaymentSweeperDependencies,
  guarded: Guarded,
): Promise<void> {
  const before = new Date(Date.now() - overdueMs);
  for await (const { id } of commerce.store.pendingSince(before)) {
    if (!(await guarded('a payment could not be looked at', () => reconcile(commerce, id)))) return;
  }
}

async function processUndelivered(
  commerce: PaymentSweeperDependencies['commerce'],
  guarded: Guarded,
): Promise<void> {
  const missed = await commerce.provider.undelivered(new Date(Date.now() - AWAY_MS));
  const again = {
    ...commerce,
    reconcile: (id: string, sessionId?: string) =>
      reconcile(commerce, id, sessionId === undefined ? {} : { sessionId }),
  };
  for (const event of missed) {
    if (!(await guarded('an event could not be processed', () => processEvent(again, event)))) return;
  }
}
