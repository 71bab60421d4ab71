import { badInput } from '../../../platform/errors.ts';
import type { RecipeWork } from '../domain/task.ts';
import { isAspectRatio } from '../generators/limits/limits.ts';
import type { VideoTemplateService } from '../video-templates/video-template.ts';
import { notEmpty, prepared, quoted, withoutAbsent, type Asker, type Prepared } from './prepare.ts';
import { resolveInputs, type InputFileDependencies } from './resolve-inputs.ts';
import type { RecipeRequest } from './submissions.ts';

/** What recipes need besides: the templates with their prompts. */
export interface RecipeDependencies extends InputFileDependencies {
  readonly videoTemplates: VideoTemplateService;
}

/** The recipe with the template's words at this moment: a task keeps its own copy of what it used. */
export async function prepareRecipe(
  dependencies: RecipeDependencies,
  asker: Asker,
  request: RecipeRequest,
): Promise<Prepared> {
  notEmpty('prompt', request.prompt);
  const template = await dependencies.videoTemplates.living(request.taskType);
  if (template === null) {
    throw badInput('taskType', `there is no video template with task type ${quoted(request.taskType)}`);
  }
  const inputs = request.image ? ([{ field: 'image', input: request.image, kind: 'picture' }] as const) : [];
  const [image] = await resolveInputs(dependencies, { ...asker, inputs });
  const ofTemplate = template.aspectRatio ?? '';
  const work: RecipeWork = {
    taskType: template.taskType,
    prompt: request.prompt,
    ...(image === undefined ? {} : { image: image.ref }),
    // A template may hold any text there (the document does not restrict it); only a usable one is used.
    aspectRatio: request.aspectRatio ?? (isAspectRatio(ofTemplate) ? ofTemplate : '9:16'),
    presetPrompts: template.presetPrompts,
    templatePrompt: template.prompt,
  };
  // What the caller said, not what the template says today: the same request again is the same.
  const { taskType } = template;
  const asked = { taskType, ...withoutAbsent({ prompt: request.prompt, aspectRatio: request.aspectRatio }) };
  return prepared('createTask', { kind: 'RECIPE', ...work }, asked, image === undefined ? [] : [image]);
}
