import { internalCaller } from '../../platform/access/caller.ts';
import { AppError } from '../../platform/errors.ts';
import type { EventBus } from '../../platform/events/event-bus.ts';
import type { Logger } from '../../platform/process/logger.ts';
import type { Queue } from '../../platform/queue/queue.ts';
import type { Work } from '../../subgraphs/media/domain/work/work.ts';
import type { TaskService } from '../../subgraphs/media/tasks/rules/task-service.ts';
import type { WorkflowDatabase } from '../../subgraphs/workflow/database/database.ts';
import { createExecutionLifecycle } from '../../subgraphs/workflow/executions/lifecycle.ts';
import type { MediaClient } from '../../subgraphs/workflow/executions/media-client.ts';
import { createExecutionStore } from '../../subgraphs/workflow/executions/store.ts';
import { sweepExecutions } from '../../subgraphs/workflow/executions/sweep.ts';
import { executionQueues } from '../../subgraphs/workflow/executions/worker.ts';
import {
  refundFailed,
  refundQueue,
  refundWhenFailed,
} from '../../subgraphs/workflow/payments/automatic-refunds.ts';
import type { CheckoutDependencies } from '../../subgraphs/workflow/payments/checkout.ts';
import { reconcile, type ReconcileDependencies } from '../../subgraphs/workflow/payments/reconcile.ts';
import { refund } from '../../subgraphs/workflow/payments/refunds.ts';
import { createPaymentStore } from '../../subgraphs/workflow/payments/store.ts';
import { enqueueLostJobs, createPaymentSweeper } from '../../subgraphs/workflow/payments/sweeper.ts';
import { PART, type ModelPayments } from './model-payments.ts';
import type { ScheduledProcess } from './scheduled-process.ts';

/** What a process sells with. */
export interface ModelCommerceOptions {
  readonly process: ScheduledProcess;
  readonly queue: Queue;
  readonly bus: EventBus;
  readonly logger: Logger;
  readonly service: TaskService;
  readonly payments: ModelPayments;
  readonly queueMaxHours: number;
  /** Whether the media subgraph can't be reached right now. */
  readonly isMediaAway: () => boolean;
  /** Begins something beside everything else. */
  readonly begin: (body: () => Promise<unknown>) => void;
}

/** Executions and payments as one process of the workflow subgraph has them; the model runs their parts one by one. */
export function createModelCommerce(options: ModelCommerceOptions) {
  const { process, queue, bus, logger, begin } = options;
  const database = process.database as unknown as WorkflowDatabase;
  const executions = createExecutionStore(database);
  const onEnd = refundWhenFailed(queue);
  const lifecycle = createExecutionLifecycle({
    store: executions,
    media: createMediaClient(options),
    bus,
    logger,
    onEnd,
  });
  const maxWaitMs = options.queueMaxHours * 3_600_000;
  const swept = { database, store: executions, lifecycle, queue, logger, maxWaitMs, prune: async () => {} };
  const commerce: ReconcileDependencies = {
    database,
    store: createPaymentStore(database),
    queue,
    bus,
    provider: options.payments.makeProvider(process),
    startSoon: (execution) => begin(() => lifecycle.start(execution, new AbortController().signal)),
  };
  const sweeper = createPaymentSweeper({
    // The sweep opens no checkout.
    commerce: commerce as ReconcileDependencies & CheckoutDependencies,
    logger,
    enqueueLostJobs: () => enqueueLostJobs({ ...commerce, logger, autoRefund: true }),
  });
  const dependencies = { commerce, executions, logger };
  return {
    queues: [
      ...executionQueues(swept),
      {
        queue: refundQueue,
        handler: ({ data }: { readonly data: unknown }) =>
          refundFailed(dependencies, (data as { readonly executionId: string }).executionId),
      },
    ],
    /** Asks the provider, as after its webhook. */
    reconcile: (paymentId: string) => reconcile(commerce, paymentId),
    /** An operator gives a part back; again with the same key while there was no answer. */
    async refundPart(paymentId: string, idempotencyKey: string): Promise<void> {
      const [payment] = await commerce.store.byIds([paymentId]);
      if (payment === undefined) return;
      const request = { reason: 'USER_REQUEST', amount: PART, metadata: {}, idempotencyKey } as const;
      await refund(commerce, payment, request);
      await reconcile(commerce, paymentId);
    },
    async sweep(): Promise<void> {
      await sweepExecutions(swept, new AbortController().signal);
      await sweeper.sweep();
    },
  };
}

/** The media subgraph of the same process, over a network that can fail before and after it has done something. */
function createMediaClient({ process, service, isMediaAway }: ModelCommerceOptions): MediaClient {
  const caller = internalCaller('model');
  async function ask<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
    await process.gate(`ask media: ${what}`);
    if (isMediaAway()) throw new AppError('UNAVAILABLE', 'media does not answer');
    const answer = await work();
    await process.gate(`media answers: ${what}`);
    if (isMediaAway()) throw new AppError('UNAVAILABLE', 'media did not answer');
    return answer;
  }
  return {
    checkStart: async () => {},
    startTask: ({ id, owner, onEnd, start }) =>
      ask('start', async () => {
        const work = start as unknown as Work;
        await service.start({ id, owner, onEnd, work, fileIds: [], idempotencyKey: null, fingerprint: null });
      }),
    cancelTask: (id) =>
      ask('cancel', async () => {
        await service.cancel(caller, id).catch((error: unknown) => {
          if (!(error instanceof AppError) || !['NOT_FOUND', 'TOO_LATE'].includes(error.code)) throw error;
        });
      }),
    publishEvent: async () => {},
    eraseOwner: async () => {},
    personalData: async () => [],
    costs: async (ids) => ids.map(() => null),
    tasks: (ids) => ask('tasks', () => service.readMany(caller, ids)),
    watch: () => {
      throw new Error('nobody watches');
    },
  };
}
