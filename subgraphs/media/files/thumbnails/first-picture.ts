import type { FirstPicture } from './decoder-messages.ts';
import { decodeInThread } from './decoder-thread.ts';
import { decodeWithFfmpeg } from './ffmpeg.ts';

/** The first picture of a video, as PNG; null when nothing here decodes it. `ffmpeg` is a program's path, or null. */
export async function readFirstPicture(video: Uint8Array, ffmpeg: string | null): Promise<Buffer | null> {
  const script = new URL('./first-picture-thread.ts', import.meta.url);
  const first = await decodeInThread<FirstPicture>(script, video);
  if (first === null) return null;
  const picture = await decodedPicture(first, ffmpeg);
  return picture === null ? null : picture.rotate(first.rotation).png().toBuffer();
}

async function decodedPicture({ decoded, packet }: FirstPicture, ffmpeg: string | null) {
  // Loaded only when needed.
  const { default: sharp } = await import('sharp');
  if (decoded !== null) {
    const { rgb, width, height } = decoded;
    return sharp(rgb, { raw: { width, height, channels: 3 } });
  }
  if (packet === null || ffmpeg === null) return null;
  return decodeWithFfmpeg(ffmpeg, packet).then(
    (png) => sharp(png),
    // It does not know the codec, or the file is damaged: drawn instead.
    () => null,
  );
}
