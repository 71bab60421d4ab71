import { setTimeout as wait } from 'node:timers/promises';

import type { Answer } from '../../http/answer.ts';

/** Images with what each event tells besides, or the error when there are none. */
export type MadeImages =
  | { readonly images: readonly Buffer[]; readonly facts: object }
  | { readonly answer: Answer };

interface ImageStream {
  readonly event: 'image_generation' | 'image_edit';
  readonly partialImages: number;
  /** Waits for the images: the stream begins before. */
  readonly made: () => Promise<MadeImages>;
}

/** Images as server-sent events: what there is of the first one, as often as asked, then each whole one; or an error. */
export function streamImages(stream: ImageStream): Answer {
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    body: events(stream),
  };
}

/** Between parts in milliseconds: long enough to be seen. */
const PART_MS = 400;

async function* events({ event, partialImages, made }: ImageStream): AsyncGenerator<string> {
  // A comment, so that the answer begins.
  yield ': made while you wait\n\n';
  const found = await made();
  if ('answer' in found) {
    const { error } = JSON.parse(typeof found.answer.body === 'string' ? found.answer.body : '{}') as {
      readonly error: object;
    };
    yield `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`;
    return;
  }
  const { images, facts } = found;
  const send = (type: string, more: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...facts, created_at: Math.floor(Date.now() / 1_000), ...more })}\n\n`;
  for (const [index, image] of images.entries()) {
    const b64_json = image.toString('base64');
    const parts = index === 0 ? partialImages : 0;
    for (let part = 0; part < parts; part += 1) {
      await wait(PART_MS);
      yield send(`${event}.partial_image`, { b64_json, partial_image_index: part });
    }
    yield send(`${event}.completed`, { b64_json });
  }
}
