import { decodeInThread, decodeWithFfmpeg } from './decode.ts';
import type { FirstFrame } from './decoder-messages.ts';

/** The first picture of a video, as PNG; null when nothing here decodes it. `ffmpeg` is a program's path, or null. */
export async function readFirstFrame(video: Uint8Array, ffmpeg: string | null): Promise<Buffer | null> {
  const script = new URL('./first-frame-thread.ts', import.meta.url);
  const first = await decodeInThread<FirstFrame>(script, video);
  if (first === null) return null;
  const picture = await decodedImage(first, ffmpeg);
  return picture === null ? null : picture.rotate(first.rotation).png().toBuffer();
}

async function decodedImage({ decoded, packet }: FirstFrame, ffmpeg: string | null) {
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
