import type { Runtime } from '../../platform/runtime/runtime.ts';
import { workflowDatabase } from '../../subgraphs/workflow/database/database.ts';
import { pruneKeys } from '../../subgraphs/workflow/executions/accept.ts';
import { createExecutionStore } from '../../subgraphs/workflow/executions/store.ts';
import { pruneEvents } from '../../subgraphs/workflow/payments/events.ts';
import { createPaymentStore } from '../../subgraphs/workflow/payments/store.ts';
import { enqueueLostJobs } from '../../subgraphs/workflow/payments/sweeper.ts';
import { forgetParameters } from '../../subgraphs/workflow/personal-data/erasure.ts';
import { pruneSignIn } from '../../subgraphs/workflow/sign-in/services.ts';

const LIMIT = 1_000;

/** What the workflow subgraph does each minute or two, at once. (What media does begins with its start.) */
export async function doPeriodicWork({
  database: shared,
  queue,
  logger,
  audit,
}: Pick<Runtime, 'database' | 'queue' | 'logger' | 'audit'>): Promise<void> {
  const database = workflowDatabase(shared);
  await pruneKeys(database, LIMIT);
  await pruneSignIn(database, LIMIT);
  await forgetParameters(database, 35, LIMIT);
  await audit.prune(LIMIT);
  await pruneEvents(database, LIMIT);
  await enqueueLostJobs({ database, queue, logger, autoRefund: true });
  const before = new Date();
  const executions = createExecutionStore(database);
  await Array.fromAsync(executions.openSince('PENDING', before));
  await Array.fromAsync(executions.openSince('RUNNING', before));
  await Array.fromAsync(createPaymentStore(database).pendingSince(before));
}
