import type { Units } from '../../../domain/cost.ts';
import type { StepInput } from '../../../domain/work/work.ts';
import type { FileService } from '../../../files/files.ts';

/**
 * What the stored files of a result say of what it took: how many pictures, how much video and sound. A duration that was
 * asked for stays: it is what providers charge.
 */
export async function measuredUnits(
  files: Pick<FileService, 'byIds'>,
  input: StepInput,
  mediaIds: readonly string[],
): Promise<Units> {
  if (mediaIds.length === 0) return {};
  const stored = await files.byIds(mediaIds);
  const pictures = stored.filter((file) => file?.contentType.startsWith('image/')).length;
  const seconds = stored.reduce((sum, file) => sum + (file?.duration ?? 0), 0);
  const isAskedFor = 'duration' in input && input.duration !== undefined;
  return {
    ...(pictures > 0 && { pictures }),
    ...(seconds > 0 && !isAskedFor && { milliseconds: Math.round(seconds * 1000) }),
  };
}
