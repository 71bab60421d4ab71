import type { JobResult } from '../../jobs/job.ts';
import type { VideoRequest } from '../../studio/types/media-types.ts';
import type { MediaTools } from './perform.ts';

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
