import { AppError, badInput } from '../../../platform/errors.ts';
import type { JsonObject } from '../../../platform/json.ts';
import type { Template } from '../domain/template.ts';

/**
 * What a template's `workflow` name makes of template and parameters: the StartInput that media is asked to start. The
 * generator is the usual one; media finds the one that has the template's model. Pure. Another workflow is another entry.
 */
const workflows: Readonly<Record<string, (template: Template, parameters: JsonObject) => JsonObject>> = {
  image: (template, parameters) => ({
    image: {
      generator: 'agg/imga',
      ...(isText(template.imageModel) ? { model: template.imageModel.trim() } : {}),
      prompt: promptOf(template, parameters),
      ...(isText(parameters['imageUrl']) ? { images: [{ url: parameters['imageUrl'] }] } : {}),
      ...(isText(parameters['aspectRatio']) ? { aspectRatio: parameters['aspectRatio'] } : {}),
    },
  }),
  video: (template, parameters) => ({
    video: {
      generator: 'agg/vidb',
      ...(isText(template.imageModel) ? { model: template.imageModel.trim() } : {}),
      prompt: promptOf(template, parameters),
      ...(isText(parameters['imageUrl']) ? { image: { url: parameters['imageUrl'] } } : {}),
      ...(isText(parameters['aspectRatio']) ? { aspectRatio: parameters['aspectRatio'] } : {}),
    },
  }),
};

/** Names of bundled comfy workflows as a template gives them: `comfy:text-to-image`. */
const COMFY = 'comfy:';

/** Kept with an execution for its caller alone; no workflow's input. */
const FOR_CALLERS = 'type';

/**
 * A template's own inputs: what a caller keeps with an execution beyond them stays here. A template that declares none hands
 * on what it is given, of which media takes what the graph has; there are graphs without words.
 */
function comfyStart(name: string, template: Template, parameters: JsonObject): JsonObject {
  const prompt = wordsOf(template, parameters);
  const declared = Object.keys(template.parameters);
  const isInput = (key: string) => (declared.length === 0 ? key !== FOR_CALLERS : declared.includes(key));
  const inputs = Object.entries(parameters).filter(
    ([key, value]) => key !== 'prompt' && isInput(key) && value !== null && value !== '',
  );
  const words = prompt === '' ? {} : { prompt };
  return { comfy: { workflowName: name, inputs: { ...Object.fromEntries(inputs), ...words } } };
}

/** The start of a template. NOT_CONFIGURED when its workflow is none of ours, BAD_USER_INPUT when no prompt results. */
export function startOf(template: Template, parameters: JsonObject): JsonObject {
  if (template.workflow.startsWith(COMFY)) {
    return comfyStart(template.workflow.slice(COMFY.length), template, parameters);
  }
  const build = Object.hasOwn(workflows, template.workflow) ? workflows[template.workflow] : undefined;
  if (build === undefined) {
    const known = [...Object.keys(workflows), `${COMFY}<name>`].join(', ');
    throw new AppError(
      'NOT_CONFIGURED',
      `template ${template.code} names the workflow ${JSON.stringify(template.workflow)}; known here: ${known}`,
    );
  }
  return build(template, parameters);
}

/** The words of a start that needs some. BAD_USER_INPUT when there are none. */
function promptOf(template: Template, parameters: JsonObject): string {
  const prompt = wordsOf(template, parameters);
  if (prompt === '') throw badInput('parameters.prompt', 'parameters.prompt is needed');
  return prompt;
}

/** The template's text with {prompt} filled in; absent, the template's text stands alone. An empty text is none. */
function wordsOf({ imagePrompt }: Template, parameters: JsonObject): string {
  const asked = isText(parameters['prompt']) ? parameters['prompt'].trim() : '';
  const text = isText(imagePrompt) ? imagePrompt : '{prompt}';
  // A function, because $& and its like in a caller's text must stay text. What was around a missing prompt is tidied.
  const filled = text.replaceAll('{prompt}', () => asked).trim();
  return asked === '' ? filled.replace(/^[\s,;.]+/, '') : filled;
}

/** An empty text counts as absent, as everywhere. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
