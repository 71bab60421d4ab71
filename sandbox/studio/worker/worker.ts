import { StudioError } from '../types/media-types.ts';
import { UnreadablePicture } from '../types/studio.ts';
import type { WorkerFailure, WorkerMessage, WorkerRequest } from './messages.ts';
import { runRequest } from './run-request.ts';

/**
 * One rendering process. It does one request per message and may be killed at any moment (that is how cancelling works);
 * it ends by itself when its parent is gone.
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
    say({ kind: 'failed', message, failure: failureOf(error) });
  }
}

function failureOf(error: unknown): WorkerFailure {
  if (error instanceof StudioError) return error.code;
  return error instanceof UnreadablePicture ? 'UNREADABLE_PICTURE' : 'UNKNOWN';
}
