import { describeImage } from '../describe/describe.ts';
import { decodeSound } from '../sound/decode.ts';
import type { Sound } from '../sound/sound.ts';
import { StudioError, type Analysis, type MediaFacts } from '../types/media-types.ts';
import { UnreadableImage } from '../types/studio.ts';
import { readCover, probeMedia } from './probe.ts';

/** Seconds of sound that are analysed. */
const HEARD_SECONDS = 120;

/** Describes the measurements of an image, video or sound in sentences. Throws UNREADABLE_MEDIA. */
export async function analyseMedia(media: Uint8Array): Promise<Analysis> {
  const facts = await probeMedia(media);
  if (facts.kind === 'image') return { facts, summary: await describe(media) };
  const sentences = [
    factsInWords(facts),
    ...(facts.title === null ? [] : [`It calls itself "${facts.title}".`]),
    ...(facts.kind === 'video' ? await coverInWords(media) : []),
    ...(facts.audioCodec === null ? [] : await soundInWords(media)),
    facts.kind === 'video'
      ? 'What happens in it is not recognised.'
      : 'What is said in it is not recognised.',
  ];
  return { facts, summary: sentences.join(' ') };
}

async function describe(image: Uint8Array): Promise<string> {
  try {
    const { caption, note } = await describeImage(image);
    return `${caption} ${note.charAt(0).toUpperCase()}${note.slice(1)}.`;
  } catch (cause) {
    if (!(cause instanceof UnreadableImage)) throw cause;
    throw new StudioError('UNREADABLE_MEDIA', 'the image cannot be read', { cause });
  }
}

/** A sentence with the file's type and size. */
function factsInWords(facts: MediaFacts): string {
  const { container, duration, width, height, framesPerSecond, channels, sampleRate } = facts;
  const seconds = duration === null ? '' : secondsInWords(duration);
  const video =
    width === null || height === null
      ? []
      : [`${width}x${height}`, `${framesPerSecond} frames a second`, codec(facts.videoCodec)];
  const sound =
    sampleRate === null
      ? ['without sound']
      : [
          `${channels === 1 ? 'mono' : `${channels} channel`} ${codec(facts.audioCodec)} sound at ${sampleRate} Hz`,
        ];
  return `A ${facts.kind === 'video' ? 'video' : 'sound recording'} (${container}): ${[seconds, ...video, ...sound].filter((part) => part !== '').join(', ')}.`;
}

function secondsInWords(duration: number): string {
  const seconds = Math.round(duration * 10) / 10;
  return seconds === 1 ? '1 second' : `${seconds} seconds`;
}

function codec(name: string | null): string {
  return name === 'avc' ? 'H.264' : (name ?? 'an unknown codec').toUpperCase();
}

async function coverInWords(media: Uint8Array): Promise<string[]> {
  const cover = await readCover(media);
  if (cover === null) return [];
  try {
    const { caption } = await describeImage(cover);
    return [`Its cover: ${caption}`];
  } catch (error) {
    if (error instanceof UnreadableImage) return []; // a broken cover is ignored
    throw error;
  }
}

async function soundInWords(media: Uint8Array): Promise<string[]> {
  try {
    return [loudnessInWords(await decodeSound(media, HEARD_SECONDS))];
  } catch (error) {
    if (error instanceof StudioError) return [`Its sound was not listened to (${error.message}).`];
    throw error;
  }
}

const QUIET = 0.003;
const LOUD = 0.2;

function loudnessInWords({ samples, sampleRate }: Sound): string {
  const root = Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length);
  if (root < QUIET) return 'It is silent.';
  const step = Math.round(sampleRate / 20);
  let quiet = 0;
  let steps = 0;
  for (let at = 0; at + step <= samples.length; at += step) {
    const piece = samples.subarray(at, at + step);
    if (Math.sqrt(piece.reduce((sum, value) => sum + value * value, 0) / step) < root / 5) quiet += 1;
    steps += 1;
  }
  const pauses = steps === 0 ? 0 : Math.round((100 * quiet) / steps);
  return `Its sound is ${root > LOUD ? 'loud' : 'moderate'} with pauses for ${pauses} % of the time.`;
}
