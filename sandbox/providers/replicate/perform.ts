import { readRequested, readText } from '../shared/inputs.ts';
import { withMask } from '../shared/mask.ts';
import { renderImages, inputImages, readLines, renderVideo, type Perform } from '../shared/perform.ts';

/** Renders the result of a job; an uploaded file needs no work. */
export const perform: Perform = async (tools, job, signal, onPreview) => {
  if (job.operation === 'file') return { files: [], texts: [], facts: {} };
  const images = await inputImages(tools.journal, job.input);
  const fields = readRequested(job);
  const prompt = readText(fields['prompt']) ?? '';
  const { seed, aspect_ratio: named } = fields;
  const shape = readText(named)?.includes(':') === true ? readText(named) : null;
  const shared = {
    prompt,
    ...(shape !== null && { aspectRatio: shape }),
    ...(typeof seed === 'number' && { seed }),
  };
  if (job.operation === 'image') {
    const count = Number(fields['num_outputs'] ?? fields['number_of_images'] ?? 1);
    const request = { ...shared, references: images };
    const [image, mask] = job.input['hasMask'] === true ? images : [];
    return renderImages(withMask(tools, { image, mask }), { id: job.id, count, onPreview }, request, signal);
  }
  const [firstFrame, lastFrame] = images;
  const request = {
    ...shared,
    durationSeconds: Number(fields['duration'] ?? 5),
    resolution: readLines(fields['resolution']),
    ...(firstFrame !== undefined && { firstFrame }),
    ...(lastFrame !== undefined && { lastFrame }),
  };
  return renderVideo(tools, job.id, request, signal);
};
