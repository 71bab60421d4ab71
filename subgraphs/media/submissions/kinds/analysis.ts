import type { AnalysisWork } from '../../domain/task.ts';
import { notEmpty, prepared, resolveNamed, withoutAbsent, type Asker, type Prepared } from '../prepare.ts';
import type { InputFileDependencies } from '../resolve-inputs.ts';
import type { AnalysisRequest } from '../submissions.ts';

/** Words about a picture, a recording or a video. */
export async function prepareAnalysis(
  dependencies: InputFileDependencies,
  asker: Asker,
  { generator, prompt, media: input, ...rest }: AnalysisRequest,
): Promise<Prepared> {
  notEmpty('prompt', prompt);
  const asked: Omit<AnalysisWork, 'media'> = { generator, prompt, ...withoutAbsent(rest) };
  const { media } = await resolveNamed(dependencies, asker, { media: input }, { media: 'media' });
  if (media === undefined) throw new Error('one input was resolved to none');
  return prepared('analyzeMedia', { kind: 'ANALYSIS', ...asked, media: media.ref }, asked, [media]);
}
