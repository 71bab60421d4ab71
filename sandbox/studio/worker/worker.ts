import { StudioError } from '../types/media-types.ts';
import { UnreadableImage } from '../types/studio.ts';
import type { WorkerFailure, WorkerMessage, WorkerRequest } from './messages.ts';
import { runRequest } from './run-request.ts';

/**
 * A rendering process. It runs one request per message and is killed to cancel it; it exits when its parent has ended.
 */
const say = (message: WorkerMessage) => process.send?.(message);

process.on('disconnect', () => process.exit(0));
process.on('message', (message) => void answer(message as WorkerRequest));
say({ kind: 'ready' });

async function answer(request: WorkerRequest): Promise<void> {
  try {
    const value = await runRequest(request, (percent, stage) => say({ kind: 'progress', percent, stage }));
    say({ kind: 'done', value, rssBytes: process.memoryUsage.rss() });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    say({ kind: 'failed', message, failure: toFailure(error) });
  }
}

function toFailure(error: unknown): WorkerFailure {
  if (error instanceof StudioError) return error.code;
  return error instanceof UnreadableImage ? 'UNREADABLE_PICTURE' : 'UNKNOWN';
}
