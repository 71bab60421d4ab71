import { execFile } from 'node:child_process';
import { Worker } from 'node:worker_threads';

import { openImage } from '../../../../platform/object-store/measure/image.ts';
import { type FirstFrame, type DecodedImage, SHEET_IMAGES, type SheetImages } from './decoder-messages.ts';

/** The first image of a video, as PNG; null when nothing here decodes it. `ffmpeg` is a program's path, or null. */
export async function readFirstFrame(video: Uint8Array, ffmpeg: string | null): Promise<Buffer | null> {
  const script = new URL('./first-frame-thread.ts', import.meta.url);
  const first = await decodeInThread<FirstFrame>(script, video);
  if (first === null) return null;
  try {
    const image = await decodedImage(first, ffmpeg);
    return image === null ? null : await image.rotate(first.rotation).png().toBuffer();
  } catch {
    // The program does not know the codec, or the file is damaged: drawn instead.
    return null;
  }
}

async function decodedImage({ decoded, packet }: FirstFrame, ffmpeg: string | null) {
  // Loaded only when needed.
  const { default: sharp } = await import('sharp');
  if (decoded !== null) {
    const { rgb, width, height } = decoded;
    return sharp(rgb, { raw: { width, height, channels: 3 } });
  }
  if (packet === null || ffmpeg === null) return null;
  return (await openImage(await decodeWithFfmpeg(ffmpeg, packet))).image;
}

/** Images in a row. */
const COLUMNS = 4;
/** Widest image in pixels. */
const MAX_WIDTH = 320;
const ENCODING = { quality: 78, effort: 2 };

/** Up to 16 images of a video at even distances, as one WebP; null when nothing here decodes it. `ffmpeg` is a program's path, or null. */
export async function readSpritesheet(video: Uint8Array, ffmpeg: string | null): Promise<Buffer | null> {
  const script = new URL('./spritesheet-thread.ts', import.meta.url);
  const found = await decodeInThread<SheetImages>(script, video);
  if (found === null) return null;
  const { decoded } = found;
  const making = decoded === null ? sheetByFfmpeg(found, ffmpeg) : composeSheet(decoded, found.rotation);
  // As above; or a sheet of such images would be larger than a WebP can be.
  return making.catch(() => null);
}

/** How ffmpeg turns images by so many degrees clockwise: the packets alone say nothing of it. */
const TURNS = new Map([
  [90, 'transpose=clock,'],
  [180, 'hflip,vflip,'],
  [270, 'transpose=cclock,'],
]);

async function sheetByFfmpeg(
  { film, duration, rotation }: SheetImages,
  ffmpeg: string | null,
): Promise<Buffer | null> {
  if (film === null || ffmpeg === null || !(duration > 0)) return null;
  const filter = `fps=${SHEET_IMAGES / duration},${TURNS.get(rotation) ?? ''}scale='min(${MAX_WIDTH},iw)':-2,tile=${COLUMNS}x${SHEET_IMAGES / COLUMNS}`;
  const { image } = await openImage(await decodeWithFfmpeg(ffmpeg, film, ['-vf', filter]));
  return image.webp(ENCODING).toBuffer();
}

async function composeSheet(images: readonly DecodedImage[], rotation: number): Promise<Buffer> {
  // Loaded only when needed.
  const { default: sharp } = await import('sharp');
  const tiles = await Promise.all(
    images.map(({ rgb, width, height }) =>
      sharp(rgb, { raw: { width, height, channels: 3 } })
        .rotate(rotation)
        .resize({ width: MAX_WIDTH, withoutEnlargement: true })
        .png()
        .toBuffer({ resolveWithObject: true }),
    ),
  );
  const { width = 1, height = 1 } = tiles[0]?.info ?? {};
  const sheet = {
    width: width * Math.min(COLUMNS, tiles.length),
    height: height * Math.ceil(tiles.length / COLUMNS),
    channels: 3,
    background: '#000',
  } as const;
  const placed = tiles.map(({ data }, index) => ({
    input: data,
    left: (index % COLUMNS) * width,
    top: Math.floor(index / COLUMNS) * height,
  }));
  return sharp({ create: sheet }).composite(placed).webp(ENCODING).toBuffer();
}

/** Longest time for one image; then the program is ended. */
const DEADLINE_MS = 10_000;
const MAX_IMAGE_BYTES = 64 * 1024 * 1024;

/** The first image that comes of a Matroska file, through filters if any, as PNG, by an ffmpeg on this machine. It reads and writes pipes alone. Rejects when it fails. */
function decodeWithFfmpeg(
  program: string,
  film: Uint8Array,
  filters: readonly string[] = [],
): Promise<Buffer> {
  const arguments_ = ['-hide_banner', '-loglevel', 'error', '-protocol_whitelist', 'pipe', '-f', 'matroska'];
  const output = ['-i', 'pipe:0', ...filters, '-frames:v', '1', '-c:v', 'png', '-f', 'image2pipe', 'pipe:1'];
  const limits = { timeout: DEADLINE_MS, maxBuffer: MAX_IMAGE_BYTES, killSignal: 'SIGKILL' } as const;
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      [...arguments_, ...output],
      { ...limits, encoding: 'buffer' },
      (error, image) => {
        if (error === null) resolve(image);
        else reject(error);
      },
    );
    // One that ends before it has read everything answers by its exit code.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(film);
  });
}

/** Longest time for one file; then the thread is ended. */
const THREAD_DEADLINE_MS = 20_000;

/**
 * Answer of a thread to one file: a crafted file must not stop the process, so it is decoded in a thread of its own with
 * a deadline. Null when it took too long or died.
 */
export function decodeInThread<Answer>(script: URL, file: Uint8Array): Promise<Answer | null> {
  const thread = new Worker(script, { resourceLimits: { maxOldGenerationSizeMb: 256 } });
  return new Promise<Answer | null>((resolve) => {
    const deadline = setTimeout(() => resolve(null), THREAD_DEADLINE_MS);
    const end = (answer: Answer | null) => {
      clearTimeout(deadline);
      resolve(answer);
    };
    thread.once('message', end);
    thread.once('error', () => end(null));
    thread.once('exit', () => end(null));
    thread.postMessage(file);
  }).finally(() => void thread.terminate());
}
