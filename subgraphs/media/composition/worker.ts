import type { FileAccess, FileService } from '../files/files.ts';
import { createInputAddress } from '../files/input-addresses.ts';
import { createBulkWorker } from '../tasks/bulk/worker.ts';
import type { TaskService } from '../tasks/rules/task-service.ts';
import { createTaskWorker, type TaskWorker, type TaskWorkerOptions } from '../tasks/work/worker.ts';
import { createWebhookWorker } from '../webhooks/worker.ts';
import type { MediaSubgraphOptions } from './options.ts';

/** What the worker shares with its subgraph. */
export interface WorkerParts
  extends
    Omit<MediaSubgraphOptions, 'database' | 'files'>,
    Pick<
      TaskWorkerOptions,
      'database' | 'planner' | 'endListener' | 'observer' | 'budgetWarnings' | 'webhookAddress'
    > {
  readonly tasks: Pick<TaskService, 'submit' | 'cancel'>;
  readonly files: FileService & FileAccess;
  readonly fileSettings: MediaSubgraphOptions['files'];
}

/** Seconds for webhooks that are being sent when the worker stops; others send them again. */
const WEBHOOK_GRACE_SECONDS = 5;

/** Makes the worker of tasks, with that of their webhooks. */
export function createMediaWorker(options: WorkerParts): TaskWorker {
  const parts = { ...options, logger: options.logger.part('worker') };
  const { publicUrl, localUrl = publicUrl } = parts.fileSettings;
  const inputAddress = createInputAddress({ ...parts, publicUrl, localUrl });
  const tasks = createTaskWorker({ ...parts, inputAddress });
  const webhooks = createWebhookWorker({ ...parts, secret: parts.webhookSecret });
  const bulk = createBulkWorker(parts);
  return {
    async start() {
      await tasks.start();
      await webhooks.start();
      await bulk.start();
    },
    async stop(graceSeconds) {
      await Promise.all([
        tasks.stop(graceSeconds),
        bulk.stop(0),
        webhooks.stop(Math.min(graceSeconds, WEBHOOK_GRACE_SECONDS)),
      ]);
    },
  };
}
