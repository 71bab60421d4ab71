import { AppError, type Problem } from '../../../platform/errors.ts';
import type { StepInput, Work } from '../tasks/task.ts';
import type { CatalogModel, GeneratorRegistry } from './binding.ts';

/** What a submission must keep to before anything is written or paid for. Pure: the catalog says the limits. */

const MAX_COUNT = 10;
const MAX_IMAGES = 10;
/** Upper bound where the catalog names none: what one row and one upstream request may sensibly carry. */
const MAX_PROMPT = 20_000;

/** Whether a text is W:H with integers from 1 to 64. */
export function isAspectRatio(text: string): boolean {
  const [, width, height] = /^(\d{1,2}):(\d{1,2})$/.exec(text) ?? [];
  return [width, height].every((side) => Number(side) >= 1 && Number(side) <= 64);
}

/** Throws BAD_USER_INPUT with every problem of the work; the first one's field is the error's. */
export function checkWork(work: Work, registry: GeneratorRegistry): void {
  const problems = work.kind === 'RECIPE' ? recipeProblems(work) : stepProblems(work, registry);
  const [first] = problems;
  if (first !== undefined) {
    throw new AppError('BAD_USER_INPUT', `${first.field}: ${first.message}`, {
      field: first.field,
      problems,
    });
  }
}

function recipeProblems(work: Extract<Work, { kind: 'RECIPE' }>): readonly Problem[] {
  const hasPrompt = work.prompt.trim() !== '' || (work.templatePrompt ?? '').trim() !== '';
  return [
    ...(hasPrompt ? [] : [{ field: 'prompt', message: 'must not be empty' }]),
    ...promptProblems(work.prompt, 1_500),
    ...ratioProblems(work.aspectRatio),
  ];
}

function stepProblems(work: StepInput, registry: GeneratorRegistry): readonly Problem[] {
  const models = registry.models({ generator: work.generator });
  const model = work.model === undefined ? models[0] : models.find(({ id }) => id === work.model);
  if (work.model !== undefined && model === undefined) {
    const known = models.map(({ id }) => id).join(', ');
    return [{ field: 'model', message: `is not one of this generator's models (${known})` }];
  }
  return work.kind === 'IMAGE' ? imageProblems(work, model) : [];
}

function imageProblems(
  work: Extract<StepInput, { kind: 'IMAGE' }>,
  model: CatalogModel | undefined,
): readonly Problem[] {
  const count = work.count ?? 1;
  return [
    ...(work.prompt.trim() === '' ? [{ field: 'prompt', message: 'must not be empty' }] : []),
    ...promptProblems(work.prompt, model?.maxPrompt ?? MAX_PROMPT),
    ...ratioProblems(work.aspectRatio),
    ...(Number.isInteger(count) && count >= 1 && count <= MAX_COUNT
      ? []
      : [{ field: 'count', message: `must be from 1 to ${MAX_COUNT}` }]),
    ...((work.images?.length ?? 0) <= MAX_IMAGES
      ? []
      : [{ field: 'images', message: `must be at most ${MAX_IMAGES} files` }]),
  ];
}

function promptProblems(prompt: string, longest: number): readonly Problem[] {
  if (prompt.length <= longest) return [];
  return [
    { field: 'prompt', message: `must be at most ${longest} characters, this one has ${prompt.length}` },
  ];
}

function ratioProblems(aspectRatio: string | undefined): readonly Problem[] {
  if (aspectRatio === undefined || isAspectRatio(aspectRatio)) return [];
  return [{ field: 'aspectRatio', message: 'must be W:H with whole numbers from 1 to 64, such as 16:9' }];
}
