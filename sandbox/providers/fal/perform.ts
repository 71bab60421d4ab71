import type { ImageRequest } from '../../studio/types/studio.ts';
import { readRequested, readText } from '../shared/inputs.ts';
import { withMask } from '../shared/mask.ts';
import { renderImages, inputImages, readLines, renderVideo, type Perform } from '../shared/perform.ts';

/** The sizes of the names of `image_size`. */
const SHAPES: Readonly<Record<string, string>> = {
  square_hd: '1:1',
  square: '1:1',
  portrait_4_3: '3:4',
  portrait_16_9: '9:16',
  landscape_4_3: '4:3',
  landscape_16_9: '16:9',
};

/** Renders the result of a job. */
export const perform: Perform = async (tools, job, signal, onPreview) => {
  const images = await inputImages(tools.journal, job.input);
  const fields = readRequested(job);
  if (job.operation === 'image') {
    const count = Number(fields['num_images'] ?? 1);
    const [image, mask] = job.input['hasMask'] === true ? images : [];
    return renderImages(
      withMask(tools, { image, mask }),
      { id: job.id, count, onPreview },
      imageRequest(fields, images),
      signal,
    );
  }
  const [firstFrame, lastFrame] = images;
  const shape = readText(fields['aspect_ratio']);
  const request = {
    prompt: readText(fields['prompt']) ?? '',
    durationSeconds: Number(fields['duration'] ?? 5),
    resolution: readLines(fields['resolution']),
    ...(shape !== null && shape !== 'auto' && { aspectRatio: shape }),
    ...(firstFrame !== undefined && { firstFrame }),
    ...(lastFrame !== undefined && { lastFrame }),
    ...readSeed(fields),
  };
  return renderVideo(tools, job.id, request, signal);
};

type Fields = Readonly<Record<string, unknown>>;

function imageRequest(fields: Fields, references: readonly Buffer[]): ImageRequest {
  const { image_size: size } = fields;
  const named = typeof size === 'string' ? SHAPES[size] : readText(fields['aspect_ratio']);
  const shape = named === 'auto' ? undefined : (named ?? undefined);
  return {
    prompt: readText(fields['prompt']) ?? '',
    references,
    ...(isSize(size) ? { size } : shape !== undefined && { aspectRatio: shape }),
    ...readSeed(fields),
  };
}

function isSize(size: unknown): size is { width: number; height: number } {
  return typeof size === 'object' && size !== null && 'width' in size && 'height' in size;
}

function readSeed({ seed }: Fields): { seed?: number } {
  return typeof seed === 'number' ? { seed } : {};
}
