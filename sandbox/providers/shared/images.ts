import type { JobResult } from '../../jobs/job.ts';
import type { ImageRequest } from '../../studio/types/studio.ts';
import { renderImage } from './perform.ts';
import type { MediaTools } from './perform.ts';

/** Renders several pictures of one request, each with its own seed, and stores them under the job's id. */
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
