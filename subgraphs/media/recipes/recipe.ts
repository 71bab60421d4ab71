import type { NextSteps, PlannedStep, StepSoFar, TaskOutcome } from '../domain/task.ts';
import type { Note } from '../domain/words/notes.ts';
import type { RecipeWork } from '../domain/work/recipe.ts';
import { findRules, type StepInput, type StepKind, type Work } from '../domain/work/work.ts';
import { isSpokenFirst, progressOfSpoken, spokenSteps } from './spoken-avatar.ts';

/**
 * What a task does in which order: pure functions of the work and its steps so far. A plain task is the recipe of one
 * step. No SQL, no clock, no provider here.
 *
 * tea, chop, lady, vlog and every other task type: an image among the inputs is described first; then a set of images,
 * one for each preset prompt, whose prompts the description joins. A vlog then makes its video, from the first image to
 * the last, and the video comes first in its result. When a step fails the task fails (an incomplete set is no result),
 * and the other steps are cancelled. An avatar that says a text: spoken-avatar.ts.
 */

export interface RecipeOptions {
  /** Generator that describes and makes the images of recipes. */
  readonly generator: string;
  /** Makes the videos; absent where there are none. */
  readonly video?: {
    readonly generator: string;
    /** Whether one of the generator's models takes this work. */
    readonly takes: (input: StepInput) => boolean;
  };
}

/** The task type that makes a video of its images. */
export const VLOG = 'vlog';
/** Most images of one set. */
const MAX_SET = 4;
/** Longest prompt of an image step; a description that does not fit is cut. */
const MAX_PROMPT = 2_000;
const NO_VIDEO: Note = 'the video is missing: no generator for videos is configured here';

/** What comes next, given every step so far in order. Steps that failed never get here: the task has ended then. */
export function nextSteps(work: Work, steps: readonly StepSoFar[], options: RecipeOptions): NextSteps {
  if (isSpokenFirst(work)) return spokenSteps(work, steps);
  if (work.kind !== 'RECIPE') return plain(work, steps);
  if (steps.some((step) => step.state !== 'SUCCEEDED')) return { kind: 'wait' };
  if (steps.length === 0 && work.image !== undefined) {
    const input: StepInput = { kind: 'DESCRIPTION', generator: options.generator, image: work.image };
    return { kind: 'start', steps: [{ label: 'describing the image', input }] };
  }
  if (!steps.some((step) => step.input.kind === 'IMAGE')) {
    return { kind: 'start', steps: imageSteps(work, describedAs(steps), options) };
  }
  if (work.taskType !== VLOG || steps.some((step) => step.input.kind === 'VIDEO')) {
    return { kind: 'done', outcome: gather(steps) };
  }
  const input = videoInput(work, steps, options);
  if (input === null) return { kind: 'done', outcome: gather(steps, [NO_VIDEO]) };
  return { kind: 'start', steps: [{ label: 'video', input }] };
}

function plain(work: StepInput, steps: readonly StepSoFar[]): NextSteps {
  const [step] = steps;
  if (step === undefined) return { kind: 'start', steps: [{ label: '', input: work }] };
  return step.outcome === null ? { kind: 'wait' } : { kind: 'done', outcome: step.outcome };
}

function imageSteps(work: RecipeWork, description: string, options: RecipeOptions): readonly PlannedStep[] {
  const presets = imagePresets(work);
  return presets.map((preset, index) => ({
    label: presets.length === 1 ? 'image' : `image ${index + 1} of ${presets.length}`,
    input: {
      kind: 'IMAGE',
      generator: options.generator,
      prompt: buildPrompt(work, preset, description),
      aspectRatio: work.aspectRatio,
      count: 1,
      ...(work.options?.image && { options: work.options.image }),
    },
  }));
}

/** From the first image to the last, where the generator takes both; null when it takes neither way. */
function videoInput(
  work: RecipeWork,
  steps: readonly StepSoFar[],
  { video }: RecipeOptions,
): StepInput | null {
  const [first, ...others] = listImages(steps);
  if (video === undefined || first === undefined) return null;
  // No aspect ratio: the video has the shape of its first image.
  const input: StepInput = {
    kind: 'VIDEO',
    generator: video.generator,
    prompt: buildPrompt(work, '', describedAs(steps)),
    firstFrame: { fileId: first },
    ...(work.options?.video && { options: work.options.video }),
  };
  const last = others.at(-1);
  const whole: StepInput = last === undefined ? input : { ...input, lastFrame: { fileId: last } };
  return [whole, input].find((candidate) => video.takes(candidate)) ?? null;
}

function listImages(steps: readonly StepSoFar[]): readonly string[] {
  return steps.flatMap(({ input, outcome }) => (input.kind === 'IMAGE' ? (outcome?.mediaIds ?? []) : []));
}

function imagePresets(work: RecipeWork): readonly string[] {
  const presets = work.presetPrompts.map((preset) => preset.trim()).filter((preset) => preset !== '');
  return presets.length === 0 ? [''] : presets.slice(0, MAX_SET);
}

/** The caller's prompt (the template's own when it is blank), the preset of this image, the description of the input image. */
function buildPrompt(work: RecipeWork, preset: string, description: string): string {
  const own = work.prompt.trim() === '' ? (work.templatePrompt ?? '') : work.prompt;
  const parts = [own.trim(), preset, description].filter((part) => part !== '');
  return parts.join(', ').slice(0, MAX_PROMPT).toWellFormed();
}

/** The first description, without the switches (`--ar 3:4`) that some describers append. */
function describedAs(steps: readonly StepSoFar[]): string {
  const text = steps.find((step) => step.input.kind === 'DESCRIPTION')?.outcome?.texts[0] ?? '';
  return text.replaceAll(/\s--[a-z]+(\s+[^\s-]\S*)?/gi, '').trim();
}

/** The video first, then the images in order. */
function gather(steps: readonly StepSoFar[], notes: readonly Note[] = []): TaskOutcome {
  const ordered = [
    ...steps.filter(({ input }) => input.kind === 'VIDEO'),
    ...steps.filter(({ input }) => input.kind !== 'VIDEO'),
  ];
  const outcomes = ordered.flatMap((step) => (step.outcome === null ? [] : [step.outcome]));
  return {
    mediaIds: outcomes.flatMap((outcome) => outcome.mediaIds),
    texts: outcomes.flatMap((outcome) => outcome.texts),
    notes: [...outcomes.flatMap((outcome) => outcome.notes), ...notes],
    facts: Object.assign({}, ...outcomes.map((outcome) => outcome.facts)) as TaskOutcome['facts'],
  };
}

/**
 * Task progress, 0 to 100: the weighted sum over the steps that are planned, whether they have begun or not. A vlog's
 * video is always among them; where none can be made, the end comes a little earlier than expected.
 */
export function computeProgress(work: Work, steps: readonly Pick<StepSoFar, 'input' | 'progress'>[]): number {
  if (isSpokenFirst(work)) return progressOfSpoken(steps);
  if (work.kind !== 'RECIPE') return steps[0]?.progress ?? 0;
  const planned =
    (work.image === undefined ? 0 : findWeight('DESCRIPTION')) +
    imagePresets(work).length * findWeight('IMAGE') +
    (work.taskType === VLOG ? findWeight('VIDEO') : 0);
  const reached = steps.reduce((sum, step) => sum + findWeight(step.input.kind) * step.progress, 0);
  return Math.min(100, Math.floor(reached / planned));
}

function findWeight(kind: StepKind): number {
  return findRules({ kind }).weight ?? 1;
}
