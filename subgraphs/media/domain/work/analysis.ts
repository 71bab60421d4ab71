import { notEmpty, lengthProblems, blankProblems } from '../inputs/checks.ts';
import type { InputRef } from '../inputs/input-files.ts';
import { USUAL_SECONDS, type AtGenerator, type RulesOf } from './kind.ts';

/** A question about a picture, a video or a sound. */
export interface AnalysisWork<File = InputRef> extends AtGenerator {
  readonly kind: 'ANALYSIS';
  readonly media: File;
  readonly prompt: string;
  readonly system?: string;
}

/** What holds for it. */
export const analysisKinds = {
  ANALYSIS: {
    description: 'A text about a picture, a recording or a video.',
    mutation: 'analyzeMedia',
    category: 'language',
    files: { media: { kind: 'media' } },
    result: { name: 'result', types: ['text/'], label: 'a text', needsFile: false },
    timeoutSeconds: USUAL_SECONDS,
    normalize: (work) => notEmpty(work, 'prompt'),
    problems: ({ prompt }, limits) => [
      ...blankProblems('prompt', prompt),
      ...lengthProblems('prompt', prompt, limits?.maxPrompt),
    ],
  },
} as const satisfies RulesOf<AnalysisWork>;
