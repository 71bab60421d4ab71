import type { Job, JobResult } from '../../jobs/job.ts';
import { renderImages } from '../shared/images.ts';
import { readText } from '../shared/inputs/text-of.ts';
import { withMask } from '../shared/mask.ts';
import { inputImages } from '../shared/perform.ts';
import type { MediaTools } from '../shared/perform.ts';

/** Renders the pictures of a job, one seed after the other. */
export async function perform(
  tools: MediaTools,
  job: Job,
  signal: AbortSignal,
  onPreview: () => void,
): Promise<JobResult> {
  const { id, input } = job;
  const pictures = await inputImages(tools.journal, input);
  const mask = input['hasMask'] === true ? pictures.pop() : undefined;
  const request = {
    prompt: readText(input['prompt']) ?? '',
    size: { width: Number(input['width']), height: Number(input['height']) },
    seed: Number(input['seed']),
    references: pictures,
  };
  const masked = withMask(tools, { picture: pictures[0], mask });
  return renderImages(masked, { id, count: Number(input['count']), onPreview }, request, signal);
}
