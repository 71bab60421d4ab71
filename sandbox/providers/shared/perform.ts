import type { JsonObject } from '../../../platform/json.ts';
import type { Job, JobResult } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import { StudioError, type VideoRequest } from '../../studio/types/media-types.ts';
import { MOST_LINES } from '../../studio/types/size.ts';
import {
  MOST_REFERENCES,
  type ImageRequest,
  type Studio,
  UnreadableImage,
} from '../../studio/types/studio.ts';

/** What renders the result of a job. */
export interface MediaTools {
  readonly studio: Studio;
  readonly journal: Journal;
}

/** Does the work of a job; `onPreview` says that a first look at it is stored. */
export type Perform = (
  tools: MediaTools,
  job: Job,
  signal: AbortSignal,
  onPreview: () => void,
) => Promise<JobResult>;

const SUFFIXES = { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/webp': 'webp' } as const;

/** Renders an image and stores it with its preview under the job's id. */
export async function renderImage(
  { studio, journal }: MediaTools,
  job: { readonly id: string; readonly index: number; readonly onPreview: () => void },
  request: ImageRequest,
  signal: AbortSignal,
): Promise<JobResult> {
  // Vendors take more images than the studio blends.
  const references = request.references?.slice(0, MOST_REFERENCES) ?? [];
  const image = await studio.image({ ...request, references }, { signal });
  const { contentType, width, height, seed } = image;
  const name = `${job.id}-${job.index}.${SUFFIXES[contentType]}`;
  if (job.index === 0) {
    await journal.writeImage(previewName(job.id), image.preview);
    job.onPreview();
  }
  await journal.writeImage(name, image.bytes);
  signal.throwIfAborted();
  return { files: [{ name, contentType, width, height }], texts: [], facts: { seed } };
}

/** Describes the first input image of a job. */
export async function describeImage(
  { studio, journal }: MediaTools,
  input: JsonObject,
  signal: AbortSignal,
): Promise<JobResult> {
  const [image] = await inputImages(journal, input);
  if (image === undefined) throw new Error('the job has no image');
  const { prompts, caption } = await studio.describe(image, { signal });
  return { files: [], texts: prompts, facts: { caption } };
}

/** The input images of a job. */
export async function inputImages(journal: Journal, input: JsonObject): Promise<Buffer[]> {
  const names = Array.isArray(input['pictures']) ? input['pictures'].map(String) : [];
  const images = await Promise.all(names.map((name) => journal.readImage(name)));
  if (images.includes(null)) throw new Error('an image that came with the job is gone');
  return images.filter((image) => image !== null);
}

/** Stores the input images of a job, which names them under `pictures`. */
export async function storeInputs(
  journal: Journal,
  id: string,
  images: readonly Uint8Array[],
): Promise<string[]> {
  const names = images.map((_image, index) => `${id}-input-${index}`);
  for (const [index, image] of images.entries()) {
    await journal.writeImage(names[index] ?? '', image);
  }
  return names;
}

/** The name of a job's preview, written a little before the image itself. */
export function previewName(id: string): string {
  return `${id}-preview.webp`;
}

/** Renders several images of one request, each with its own seed, and stores them under the job's id. */
export async function renderImages(
  tools: MediaTools,
  { id, count, onPreview }: { readonly id: string; readonly count: number; readonly onPreview: () => void },
  request: ImageRequest,
  signal: AbortSignal,
): Promise<JobResult> {
  const results: JobResult[] = [];
  for (let index = 0; index < count; index += 1) {
    const { seed } = results[0]?.facts ?? {};
    const own = typeof seed === 'number' ? { ...request, seed: seed + index } : request;
    results.push(await renderImage(tools, { id, index, onPreview }, own, signal));
  }
  return { files: results.flatMap(({ files }) => files), texts: [], facts: results[0]?.facts ?? {} };
}

/** Whether the media or texts of a request are to blame for an error of the studio, and not the sandbox. */
export function isOfRequest(error: unknown): error is Error {
  return error instanceof StudioError || error instanceof UnreadableImage;
}

/** The lines of a resolution by its vendor's name, such as `720p` or `4k`, as far as the studio renders them. */
export function readLines(resolution: unknown): number {
  const [, lines] = /^(\d+)p$/i.exec(String(resolution)) ?? [];
  return Math.min(MOST_LINES, Number(lines ?? MOST_LINES));
}

/** Renders a video and stores it under the job's id. */
export async function renderVideo(
  { studio, journal }: MediaTools,
  id: string,
  request: VideoRequest,
  signal: AbortSignal,
): Promise<JobResult> {
  const video = await studio.video(request, { signal });
  const { contentType, width, height, duration, seed } = video;
  const name = `${id}-0.mp4`;
  await journal.writeImage(name, video.bytes);
  signal.throwIfAborted();
  return { files: [{ name, contentType, width, height, duration }], texts: [], facts: { seed } };
}
