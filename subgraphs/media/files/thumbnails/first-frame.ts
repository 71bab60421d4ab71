import { execFile } from 'node:child_process';

import type { FirstFrame } from './decoder-messages.ts';
import { decodeInThread } from './decoder-thread.ts';

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

/** Longest time for one picture; then the program is ended. */
const DEADLINE_MS = 10_000;
const MAX_PICTURE_BYTES = 64 * 1024 * 1024;

/** The picture of a Matroska file with one, as PNG, by an ffmpeg on this machine. It reads and writes pipes alone. Rejects when it fails. */
function decodeWithFfmpeg(program: string, packet: Uint8Array): Promise<Buffer> {
  const arguments_ = ['-hide_banner', '-loglevel', 'error', '-protocol_whitelist', 'pipe', '-f', 'matroska'];
  const output = ['-i', 'pipe:0', '-frames:v', '1', '-c:v', 'png', '-f', 'image2pipe', 'pipe:1'];
  const limits = { timeout: DEADLINE_MS, maxBuffer: MAX_PICTURE_BYTES, killSignal: 'SIGKILL' } as const;
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      [...arguments_, ...output],
      { ...limits, encoding: 'buffer' },
      (error, picture) => {
        if (error === null) resolve(picture);
        else reject(error);
      },
    );
    // One that ends before it has read everything answers by its exit code.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(packet);
  });
}
