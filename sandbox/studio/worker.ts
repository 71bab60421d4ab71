import { paintPicture } from './art/picture.ts';
import { describePicture } from './describe/describe.ts';
import { encodePicture, encodePreview } from './encode.ts';
import { UnreadablePicture } from './types.ts';
import type { WorkerMessage, WorkerRequest, WorkerValue } from './worker-messages.ts';

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
    const value = await carryOut(request);
    say({ kind: 'done', value, rssBytes: process.memoryUsage.rss() });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    say({ kind: 'failed', message, isUnreadable: error instanceof UnreadablePicture });
  }
}

async function carryOut(asked: WorkerRequest): Promise<WorkerValue> {
  if (asked.kind === 'describe') return describePicture(asked.picture);
  if (asked.kind === 'crash') process.abort();
  const { request, width, height } = asked;
  const picture = await paintPicture(
    {
      prompt: request.prompt,
      seed: request.seed ?? null,
      width,
      height,
      references: request.references ?? [],
      hasCaption: request.hasCaption ?? true,
    },
    (percent, stage) => say({ kind: 'progress', percent, stage }),
  );
  const format = request.format ?? 'png';
  return {
    bytes: await encodePicture(picture, { prompt: request.prompt, format }),
    preview: await encodePreview(picture),
    contentType: `image/${format}`,
    width,
    height,
    seed: picture.seed,
  };
}
