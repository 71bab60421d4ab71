import { badInput } from '../../../platform/errors.ts';
import { isAspectRatio, notEmpty } from '../domain/inputs/checks.ts';
import type { RecipeWork } from '../domain/work/recipe.ts';
import type { VideoTemplateService } from '../video-templates/video-template.ts';
import { prepared, withoutAbsent, type Prepared, type Requester } from './prepare.ts';
import { resolveInputs, type InputDependencies } from './resolve-inputs.ts';
import type { RecipeRequest } from './submissions.ts';

/** What recipes need besides: the templates with their prompts. */
export interface RecipeDependencies extends InputDependencies {
  readonly videoTemplates: VideoTemplateService;
}

/** The recipe with the template's texts at this moment: a task stores its own copy of what it used. */
export async function prepareRecipe(
  dependencies: RecipeDependencies,
  requester: Requester,
  request: RecipeRequest,
): Promise<Prepared> {
  const { prompt, aspectRatio } = notEmpty(request, 'prompt');
  const template = await dependencies.videoTemplates.living(request.taskType);
  if (template === null) {
    const name = JSON.stringify(request.taskType.slice(0, 100));
    throw badInput('taskType', `there is no video template with task type ${name}`);
  }
  const inputs = request.image ? ([{ field: 'image', input: request.image, kind: 'image' }] as const) : [];
  const files = await resolveInputs(dependencies, { ...requester, inputs });
  const [image] = files;
  const { taskType, presetPrompts, prompt: templatePrompt, aspectRatio: ofTemplate } = template;
  const work: RecipeWork = {
    kind: 'RECIPE',
    taskType,
    prompt,
    ...(image && { image: image.ref }),
    // A template may hold any text there (the document does not restrict it); only a usable one is used.
    aspectRatio: aspectRatio ?? (ofTemplate !== null && isAspectRatio(ofTemplate) ? ofTemplate : '9:16'),
    presetPrompts,
    templatePrompt,
  };
  // What the caller sent, not what the template contains today: a repeated request stays the same.
  const sent = { taskType, ...withoutAbsent({ prompt, aspectRatio }) };
  return prepared({ operation: 'createTask', work, request: sent, files });
}
