import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';

const LARGEST_COVER_BYTES = 10 * 1024 * 1024;

/** The cover picture of a video or sound; null when there is none. Our own videos have one. */
export async function readCover(media: Uint8Array): Promise<Uint8Array | null> {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(media) });
  try {
    const { images = [] } = await input.getMetadataTags();
    const cover = images.find(({ kind }) => kind === 'coverFront') ?? images[0];
    return cover === undefined || cover.data.byteLength > LARGEST_COVER_BYTES ? null : cover.data;
  } finally {
    input.dispose();
  }
}
