import type { Answer } from '../../http/answer.ts';

interface ImageStream {
  readonly event: 'image_generation' | 'image_edit';
  readonly partialImages: number;
  /** What each event tells besides its picture. */
  readonly facts: object;
}

/** Pictures as server-sent events: what there is of the first one, as often as asked, then each whole one. */
export function streamImages(pictures: readonly Buffer[], stream: ImageStream): Answer {
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    body: events(pictures, stream),
  };
}

async function* events(
  pictures: readonly Buffer[],
  { event, partialImages, facts }: ImageStream,
): AsyncGenerator<string> {
  const send = (type: string, more: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...facts, created_at: Math.floor(Date.now() / 1_000), ...more })}\n\n`;
  for (const [index, picture] of pictures.entries()) {
    const b64_json = picture.toString('base64');
    const parts = index === 0 ? partialImages : 0;
    for (let part = 0; part < parts; part += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      yield send(`${event}.partial_image`, { b64_json, partial_image_index: part });
    }
    yield send(`${event}.completed`, { b64_json });
  }
}
