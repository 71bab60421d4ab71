import type { FileDoor, FileService } from '../files/files.ts';
import { createInputAddress } from '../files/input-addresses.ts';
import { createTaskWorker, type TaskWorker, type TaskWorkerOptions } from '../tasks/work/worker.ts';
import { createWebhookWorker } from '../webhooks/worker.ts';
import type { MediaSubgraphOptions } from './options.ts';

/** What the worker has in common with the subgraph that it belongs to. */
export interface WorkerParts
  extends
    Omit<MediaSubgraphOptions, 'database' | 'files'>,
    Pick<TaskWorkerOptions, 'database' | 'planner' | 'endListener' | 'webhookAddress'> {
  readonly files: FileService & FileDoor;
  readonly fileSettings: MediaSubgraphOptions['files'];
}

/** The worker of tasks, and that of their webhooks beside it. */
export function createMediaWorker(parts: WorkerParts): TaskWorker {
  const { publicUrl, localUrl = publicUrl } = parts.fileSettings;
  const inputAddress = createInputAddress({ ...parts, publicUrl, localUrl });
  const tasks = createTaskWorker({ ...parts, inputAddress });
  const webhooks = createWebhookWorker({ ...parts, secret: parts.webhookSecret });
  return {
    async start() {
      await tasks.start();
      await webhooks.start();
    },
    async stop(graceSeconds) {
      await Promise.all([tasks.stop(graceSeconds), webhooks.stop(graceSeconds)]);
    },
  };
}
