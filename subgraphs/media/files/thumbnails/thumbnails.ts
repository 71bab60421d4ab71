import { buffer } from 'node:stream/consumers';

import { AppError, notFound } from '../../../../platform/errors.ts';
import { openImage } from '../../../../platform/object-store/measure/image.ts';
import type { ObjectStore } from '../../../../platform/object-store/object-store.ts';
import type { Peaks } from './decoder-messages.ts';
import { thumbnailKey, type ThumbnailKind, findThumbnailKind, type ThumbnailVariant } from './sizes.ts';
import { decodeInThread, readFirstFrame, readSpritesheet } from './video-images.ts';

/** Thumbnails of images, recordings and videos: made when they are first asked for, and kept in the object store. */
export type Thumbnails = ReturnType<typeof createThumbnails>;

interface ThumbnailSource {
  readonly id: string;
  /** Whose it is: thumbnails of one person's files are made one after the other. */
  readonly owner: string;
  readonly objectKey: string;
  readonly bytes: number;
  readonly contentType: string;
  readonly width: number | null;
  readonly height: number | null;
}

/** Larger images and recordings have none: each one that is being made is in memory. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Of larger ones not even the header is read again; `openImage` has bounds for each format. */
const MAX_PIXELS = 100_000_000;
/** More effort takes up to twice as long, for files of the same size. */
const ENCODING = { quality: 78, effort: 2 };
/** How many are made at once, each for another person, and how many wait at most. */
const MAKERS = 2;
const MAX_WAITING = 500;
const MAX_WAITING_OF_ONE = 200;

/** Makes it over the store of the files. `ffmpeg` is the program that decodes what can't be decoded here, or null. */
export function createThumbnails(store: ObjectStore, ffmpeg: string | null) {
  const making = new Map<string, Promise<Buffer>>();
  const turns = createTurns();
  return {
    /** The bytes of a WebP. NOT_FOUND when none can be made of the file, UNAVAILABLE when too many are being made. */
    async read(source: ThumbnailSource, variant: ThumbnailVariant): Promise<Buffer> {
      const key = thumbnailKey(source.id, variant);
      if ((await store.head(key)) !== null) return buffer(await store.get(key));
      const running = making.get(key);
      if (running !== undefined) return running;
      const made = turns
        .run(source.owner, async () => {
          const thumbnail =
            variant === 'spritesheet'
              ? await makeSheet({ store, ffmpeg, source })
              : await make({ store, ffmpeg, source, width: variant });
          await store.put(key, one(thumbnail), { contentType: 'image/webp' });
          // Whoever removes a file removes its bytes first, then the thumbnails that there are.
          if ((await store.head(source.objectKey)) === null) {
            await store.delete(key);
            throw notFound('thumbnail of file', source.id);
          }
          return thumbnail;
        })
        .finally(() => making.delete(key));
      making.set(key, made);
      return made;
    },
  };
}

interface Making {
  readonly store: ObjectStore;
  readonly ffmpeg: string | null;
  readonly source: ThumbnailSource;
  readonly width: number;
}

/** Images of a video at even distances, in rows. There is none of what can't be decoded: a drawing would say nothing. */
async function makeSheet(making: Omit<Making, 'width'>): Promise<Buffer> {
  const { source, ffmpeg } = making;
  if (findThumbnailKind(source.contentType) !== 'video' || source.bytes > MAX_BYTES) {
    throw notFound('sprite sheet of file', source.id);
  }
  const sheet = await readSpritesheet(await readContent(making), ffmpeg);
  if (sheet !== null) return sheet;
  throw new AppError(
    'NOT_FOUND',
    'no sprite sheet can be made of this video here: its codec needs FFMPEG_PATH',
  );
}

async function make(making: Making): Promise<Buffer> {
  const { source, width } = making;
  const kind = findThumbnailKind(source.contentType);
  const isLarge = source.bytes > MAX_BYTES || (source.width ?? 0) * (source.height ?? 0) > MAX_PIXELS;
  if (kind === null || (kind !== 'video' && isLarge)) throw notFound('thumbnail of file', source.id);
  try {
    const { image } = await openImage(await IMAGES[kind](making), kind !== 'image');
    return await image.autoOrient().resize({ width, withoutEnlargement: true }).webp(ENCODING).toBuffer();
  } catch (error) {
    // A store that does not answer says nothing about the file.
    if (error instanceof AppError) throw error;
    throw new AppError('NOT_FOUND', 'no thumbnail can be made of this file', { cause: error });
  }
}

/** What each kind of thumbnail is made of. */
const IMAGES: Readonly<Record<ThumbnailKind, (making: Making) => Promise<Buffer>>> = {
  image: readContent,
  waveform: async (making) => drawWaveform(await readContent(making), making.width),
  async video(making) {
    const { ffmpeg, source, width } = making;
    const first = source.bytes > MAX_BYTES ? null : await readFirstFrame(await readContent(making), ffmpeg);
    return first ?? Buffer.from(videoDrawing(source, width));
  },
};

async function readContent({ store, source }: Pick<Making, 'store' | 'source'>): Promise<Buffer> {
  return buffer(await store.get(source.objectKey));
}

async function* one(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}

/** Runs so many at once, of each person one. The others wait: each person's in their order, and of the persons each in turn. */
function createTurns() {
  const waiting = new Map<string, (() => void)[]>();
  /** Of whom one is being made. */
  const served = new Set<string>();
  let count = 0;

  const wait = (person: string): Promise<void> => {
    const own = waiting.get(person) ?? [];
    if (count >= MAX_WAITING || own.length >= MAX_WAITING_OF_ONE) {
      throw new AppError('UNAVAILABLE', 'too many thumbnails are being made', { retryAfter: 5 });
    }
    count += 1;
    return new Promise((resolve) => waiting.set(person, [...own, resolve]));
  };
  const beginNext = (): void => {
    const next = [...waiting].find(([person]) => !served.has(person));
    if (next === undefined) return;
    const [person, [begin, ...others]] = next;
    // Whose turn it was stands last from now on.
    waiting.delete(person);
    if (others.length > 0) waiting.set(person, others);
    count -= 1;
    served.add(person);
    begin?.();
  };
  return {
    async run<Value>(person: string, work: () => Promise<Value>): Promise<Value> {
      if (served.size >= MAKERS || served.has(person)) await wait(person);
      else served.add(person);
      try {
        return await work();
      } finally {
        served.delete(person);
        beginNext();
      }
    },
  };
}

/** The waveform of a recording as SVG. Fails when the recording can't be decoded. */
async function drawWaveform(recording: Uint8Array, width: number): Promise<Buffer> {
  const peaks = await decodeInThread<Peaks>(new URL('./waveform-thread.ts', import.meta.url), recording);
  if (peaks === null) throw new Error('the recording can not be decoded');
  return Buffer.from(waveformDrawing(peaks, width));
}

/** Thumbnails that are drawn, as SVG. Pure. */

const GROUND = '#1c2330';
const INK = '#8fb7ff';
/** Pixels from one bar of a waveform to the next, and of its own. */
const [STEP, BAR] = [4, 3];

/** The waveform of a recording: bars as high as their part is loud, a quarter as high as it is wide. */
function waveformDrawing(peaks: Float32Array, width: number): string {
  const height = Math.round(width / 4);
  const count = Math.floor(width / STEP);
  const bars = Array.from({ length: count }, (_, index) => {
    const peak = loudest(peaks, index / count, (index + 1) / count);
    const tall = Math.max(1, Math.round(peak * (height - 4)));
    const top = Math.round((height - tall) / 2);
    return `<rect x="${index * STEP}" y="${top}" width="${BAR}" height="${tall}" fill="${INK}"/>`;
  });
  return drawing(width, height, bars.join(''));
}

/** A video whose images can't be decoded here: its shape, with a triangle that says play. */
function videoDrawing(
  { width, height }: { readonly width: number | null; readonly height: number | null },
  wide: number,
): string {
  const ratio = width !== null && height !== null && width > 0 && height > 0 ? height / width : 9 / 16;
  const high = Math.max(1, Math.round(wide * Math.min(4, ratio)));
  const size = Math.min(wide, high) / 5;
  const [x, y] = [wide / 2, high / 2];
  const triangle = `<path d="M${x - size * 0.8} ${y - size}L${x + size} ${y}L${x - size * 0.8} ${y + size}z" fill="${INK}"/>`;
  return drawing(wide, high, triangle);
}

function loudest(peaks: Float32Array, from: number, to: number): number {
  const first = Math.floor(from * peaks.length);
  const last = Math.max(first + 1, Math.floor(to * peaks.length));
  return peaks.subarray(first, last).reduce((most, peak) => Math.max(most, peak), 0);
}

function drawing(width: number, height: number, shapes: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="${GROUND}"/>${shapes}</svg>`;
}
