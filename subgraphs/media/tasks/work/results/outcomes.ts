import type { FinishedWork } from '../../../database/column-types.ts';
import type { Units } from '../../../domain/cost.ts';
import { approximations } from '../../../domain/inputs/options.ts';
import type { TaskOutcome } from '../../../domain/task.ts';
import type { Note } from '../../../domain/words/notes.ts';
import type { StepInput } from '../../../domain/work/work.ts';
import type { FileService } from '../../../files/files.ts';
import type { Binding } from '../../../generators/bindings/binding.ts';
import { modelFor } from '../../../generators/limits/limits.ts';
import type { Outcome, RemoteFile } from '../../../providers/contract/provider.ts';

/** What upstreams have finished, as rows keep it. */

/** What may be written down of an outcome: null when its files carry credentials or bytes. */
export function toFinishedWork(outcome: Outcome): FinishedWork | null {
  const urls = outcome.files.flatMap((file) => (isPlainUrl(file) ? [file.url] : []));
  if (urls.length !== outcome.files.length) return null;
  return { urls, texts: outcome.texts, facts: outcome.facts ?? {} };
}

function isPlainUrl(file: RemoteFile): file is Extract<RemoteFile, { url: string }> {
  return 'url' in file && Object.keys(file.headers ?? {}).length === 0;
}

/** The outcome as the task stores it; facts name the provider that they come from. */
export function createOutcome(
  { texts, facts = {} }: Pick<Outcome, 'texts' | 'facts'>,
  { mediaIds, provider, notes }: Pick<TaskOutcome, 'mediaIds' | 'notes'> & { readonly provider: string },
): TaskOutcome {
  const known = Object.keys(facts).length > 0;
  return { mediaIds, texts, notes, facts: known ? { ...facts, provider } : facts };
}

/** What the result of this work at this binding only meets approximately. */
export function collectNotes(input: StepInput, binding: Binding | null): readonly Note[] {
  return binding === null ? [] : approximations(input, modelFor(binding, input));
}

/**
 * What the stored files of a result say of what it took: how many images, how much video and sound. A duration that was
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
