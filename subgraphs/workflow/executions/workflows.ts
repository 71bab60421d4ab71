import { AppError, badInput } from '../../../platform/errors.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { findWorkflow, type Template, type WorkflowNames } from '../domain/template.ts';

/**
 * Builds media's StartInput from template and parameters, by the template's `workflow` name. The generator is the usual
 * one; media finds the one that has the template's model. A new workflow is a new entry. Pure.
 */
const workflows: Readonly<Record<string, (template: Template, parameters: JsonObject) => JsonObject>> = {
  image: (template, parameters) => ({
    image: {
      generator: 'agg/imga',
      ...(isText(template.imageModel) ? { model: template.imageModel.trim() } : {}),
      prompt: fillPrompt(template, parameters),
      ...(isText(parameters['imageUrl']) ? { images: [{ url: parameters['imageUrl'] }] } : {}),
      ...(isText(parameters['aspectRatio']) ? { aspectRatio: parameters['aspectRatio'] } : {}),
    },
  }),
  video: (template, parameters) => ({
    video: {
      generator: 'agg/vidb',
      ...(isText(template.imageModel) ? { model: template.imageModel.trim() } : {}),
      prompt: fillVideoPrompt(template, parameters),
      ...(isText(parameters['imageUrl']) ? { image: { url: parameters['imageUrl'] } } : {}),
      ...(isText(parameters['aspectRatio']) ? { aspectRatio: parameters['aspectRatio'] } : {}),
    },
  }),
};

/** Names of bundled comfy workflows as a template gives them: `comfy:text-to-image`. */
const COMFY = 'comfy:';

/** A parameter that is stored for the caller and is no input of any workflow. */
const FOR_CALLERS = 'type';

/**
 * Passes on the parameters that the template declares; others are the caller's metadata. A template that declares none
 * passes on all of them, and media uses those that the graph has. The prompt is optional.
 */
function comfyStart(name: string, template: Template, parameters: JsonObject): JsonObject {
  const prompt = promptText(template, parameters);
  const declared = Object.keys(template.parameters);
  const isInput = (key: string) => (declared.length === 0 ? key !== FOR_CALLERS : declared.includes(key));
  const inputs = Object.entries(parameters).filter(
    ([key, value]) => key !== 'prompt' && isInput(key) && value !== null && value !== '',
  );
  const words = prompt === '' ? {} : { prompt };
  return { comfy: { workflowName: name, inputs: { ...Object.fromEntries(inputs), ...words } } };
}

/** The StartInput of a template. CONFLICT when its workflow is unknown, BAD_USER_INPUT when the prompt is empty. */
export function toStartInput(
  template: Template,
  parameters: JsonObject,
  names: WorkflowNames = {},
): JsonObject {
  const { workflow, parameters: fixed } = findWorkflow(template.workflow, names);
  const used = { ...parameters, ...fixed };
  if (workflow.startsWith(COMFY)) return comfyStart(workflow.slice(COMFY.length), template, used);
  const build = Object.hasOwn(workflows, workflow) ? workflows[workflow] : undefined;
  if (build === undefined) {
    const known = [...Object.keys(workflows), `${COMFY}<name>`, ...Object.keys(names)].join(', ');
    throw new AppError(
      'CONFLICT',
      `template ${template.code} names the workflow ${JSON.stringify(template.workflow)}; known here: ${known}`,
      { field: 'workflow' },
    );
  }
  return build(template, used);
}

/** The prompt of a workflow that needs one. BAD_USER_INPUT when it is empty. */
function fillPrompt(template: Template, parameters: JsonObject): string {
  const prompt = promptText(template, parameters);
  if (prompt === '') throw badInput('parameters.prompt', 'parameters.prompt is needed');
  return prompt;
}

/** What an image does that starts to move, when neither the caller nor the template says a word. */
const NEUTRAL_MOTION = 'The picture comes to life with natural, gentle movement; the camera stays steady.';

/** A video without words is what its template describes; one from an image moves gently at least. */
function fillVideoPrompt(template: Template, parameters: JsonObject): string {
  const prompt = promptText(template, parameters);
  if (prompt !== '') return prompt;
  if (isText(template.description)) return template.description.trim();
  if (isText(parameters['imageUrl'])) return NEUTRAL_MOTION;
  throw badInput('parameters.prompt', 'parameters.prompt is needed, or parameters.imageUrl');
}

/** The template's text with {prompt} filled in, or the template's text alone. */
function promptText({ imagePrompt }: Template, parameters: JsonObject): string {
  const prompt = isText(parameters['prompt']) ? parameters['prompt'].trim() : '';
  const text = isText(imagePrompt) ? imagePrompt : '{prompt}';
  // A function, because $& in a caller's text must stay text. Punctuation before a missing prompt is removed.
  const filled = text.replaceAll('{prompt}', () => prompt).trim();
  return prompt === '' ? filled.replace(/^[\s,;.]+/, '') : filled;
}

/** An empty text counts as absent, as everywhere. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
