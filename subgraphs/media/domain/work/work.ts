import type { Problem } from '../../../../platform/errors.ts';
import { lengthProblems, MAX_PROMPT, type Limits } from '../inputs/checks.ts';
import type { InputRef } from '../inputs/input-files.ts';
import { optionProblems } from '../inputs/options.ts';
import { vendorOptionProblems } from '../inputs/vendor-options/check.ts';
import { avatarKinds, type AvatarSourceWork, type AvatarVideoWork, type AvatarWork } from './avatar.ts';
import { characterKinds, type CharacterImageWork, type CharacterWork } from './character.ts';
import { comfyKinds, type ComfyWork } from './comfy.ts';
import {
  analysisKinds,
  type AnalysisWork,
  imageKinds,
  type DescriptionWork,
  type ImageWork,
} from './image.ts';
import type { KindRules, RulesOf } from './kind.ts';
import { peopleKinds, type HumanVideoWork, type LipSyncWork, type PersonDetectionWork } from './people.ts';
import type { RecipeWork } from './recipe.ts';
import { speechKinds, type SpeechWork, type VoiceCloneWork } from './speech.ts';
import { videoKinds, type FrameVideoWork, type VideoWork } from './video.ts';

/** One unit of work at a generator, as stored in the task's input or produced by a recipe. */
export type StepInput<File = InputRef> =
  | ImageWork<File>
  | DescriptionWork<File>
  | VideoWork<File>
  | SpeechWork
  | VoiceCloneWork<File>
  | ComfyWork<File>
  | AnalysisWork<File>
  | FrameVideoWork<File>
  | LipSyncWork<File>
  | CharacterWork<File>
  | CharacterImageWork
  | PersonDetectionWork<File>
  | HumanVideoWork<File>
  | AvatarSourceWork<File>
  | AvatarWork
  | AvatarVideoWork<File>;

/** What a submission asks for: a plain step, or a recipe of several. */
export type Work = StepInput | RecipeWork;

/** A kind of work. */
export type StepKind = StepInput['kind'];

/** Work of one kind. */
export type WorkOf<Kind extends StepKind, File = InputRef> = Extract<
  StepInput<File>,
  { readonly kind: Kind }
>;

/** Every kind of work: a new one does not compile until its rules are here. */
export const workKinds = {
  ...imageKinds,
  ...videoKinds,
  ...speechKinds,
  ...comfyKinds,
  ...analysisKinds,
  ...peopleKinds,
  ...characterKinds,
  ...avatarKinds,
} as const satisfies RulesOf<StepInput>;

/** The names of all kinds. */
export const stepKinds = Object.keys(workKinds) as readonly StepKind[];

/** What holds for work of this kind. */
export function findRules<File>({ kind }: { readonly kind: StepKind }): KindRules<StepInput<File>> {
  const rules: KindRules<StepInput> = workKinds[kind];
  return rules as KindRules<StepInput<File>>;
}

/** Texts with a limit of their own; names and ids, whose own limits are short, may be refused twice. */
const LIMITED = new Set(['prompt', 'text']);

/** Every problem; none means that the model takes the work. Without a model only what holds for all is checked. */
export function findProblems(work: StepInput, limits: Limits): readonly Problem[] {
  const longest = Math.max(MAX_PROMPT, limits?.maxPrompt ?? 0);
  const own = findRules(work).problems?.(work, limits) ?? [];
  const isNamed = (field: string) => own.some((problem) => problem.field === field);
  return [
    ...own,
    ...optionProblems(work, limits).filter(({ field }) => !isNamed(field)),
    ...(limits === undefined ? [] : vendorOptionProblems(work, limits.options)),
    // Every other text is bounded as a prompt is at least: each is kept with its task and sent on.
    ...Object.entries(work).flatMap(([field, value]: [string, unknown]) =>
      typeof value === 'string' && !LIMITED.has(field) ? lengthProblems(field, value, longest) : [],
    ),
  ];
}
