import { AppError, badInput } from '../../../platform/errors.ts';
import type { JsonObject, Json } from '../../../platform/json.ts';
import { withFieldName } from '../../../rest-compat/replies/field-names.ts';
import { runDocument } from '../../../rest-compat/replies/results.ts';
import { FaceGraph, FaceGraphs } from '../documents/starts.ts';
import { ModelNotFound } from '../models/model.ts';
import { textIn, integerIn, isObject, objectIn } from '../request/fields.ts';
import { identifyCall, type InputFile } from '../request/media.ts';
import type { FaceCall } from '../table/route.ts';
import { startTask } from '../tasks/follow.ts';
import { readJoining } from '../tasks/joining.ts';
import { MODEL_FIELDS } from './input.ts';

/** ComfyUI graphs as models of images: `workflow/<name>`. */

const PREFIX = 'workflow/';

/** Whether a body names a graph as its model. */
export function namesWorkflow(body: JsonObject): boolean {
  return textIn(body, 'model')?.startsWith(PREFIX) === true;
}

interface Wanted {
  readonly body: JsonObject;
  readonly kind: string;
  readonly images: readonly InputFile[];
  readonly mask?: InputFile | undefined;
}

/** Starts the graph that a body names; `ignored` are fields that it has nothing for. Throws NOT_FOUND and BAD_USER_INPUT. */
export async function startWorkflow(call: FaceCall, { body, kind, images, mask }: Wanted) {
  const name = (textIn(body, 'model') ?? '').slice(PREFIX.length);
  const { comfyWorkflows } = await runDocument(call, FaceGraphs, {});
  const graph = comfyWorkflows.find((one) => one.name === name);
  if (graph === undefined) {
    const known = comfyWorkflows.map((one) => `${PREFIX}${one.name}`);
    throw new ModelNotFound(`${PREFIX}${name}`, 'comfy workflow', known);
  }
  const declared = graph.inputs as JsonObject;
  const { inputs, ignored } = graphInputs(body, declared, { images, mask });
  const files = mask === undefined ? images : [...images, mask];
  const task = await startTask(call, FaceGraph, {
    input: { workflowName: name, inputs },
    ...readJoining(call, identifyCall(kind, body, { model: `${PREFIX}${name}`, files })),
  }).catch((thrown: unknown) => {
    throw asSent(thrown, body, declared);
  });
  return { task, ignored };
}

/** OpenAI's fields by the inputs that they go to. */
const SENT: ReadonlyMap<string, string> = new Map([
  ['prompt', 'prompt'],
  ['negativePrompt', 'negative_prompt'],
  ['seed', 'seed'],
  ['count', 'n'],
  ['width', 'size'],
  ['height', 'size'],
  ['mask', 'mask'],
]);

/** A refusal of an input, by the field that it was sent in: one of OpenAI's, an image, else one of the options. */
function asSent(thrown: unknown, body: JsonObject, declared: JsonObject): unknown {
  if (!(thrown instanceof AppError)) return thrown;
  const name = /^inputs\.([^.[]+)/.exec(thrown.field ?? '')?.[1];
  if (name === undefined) return thrown;
  const isOption = Object.hasOwn(objectIn(body, 'options') ?? {}, name);
  const own = SENT.get(name) ?? (isFile(declared[name]) ? 'image' : undefined);
  return withFieldName(thrown, isOption || own === undefined ? `options.${name}` : own);
}

/** OpenAI's fields as the inputs of a ComfyUI graph, by the names that its inputs have. Pure. */

interface Files {
  readonly images: readonly InputFile[];
  readonly mask?: InputFile | undefined;
}

/** What the graph is given, and the names of fields that it has nothing for. Throws BAD_USER_INPUT. */
function graphInputs(
  body: JsonObject,
  declared: JsonObject,
  { images, mask }: Files,
): { readonly inputs: JsonObject; readonly ignored: readonly string[] } {
  const ignored: string[] = [];
  const values: Record<string, Json> = {};
  const put = (field: string, name: string, value: Json | undefined): void => {
    if (value === undefined) return;
    if (Object.hasOwn(declared, name)) values[name] = value;
    else ignored.push(field);
  };
  put('prompt', 'prompt', textIn(body, 'prompt'));
  put('negative_prompt', 'negativePrompt', textIn(body, 'negative_prompt'));
  put('seed', 'seed', integerIn(body, 'seed'));
  const count = integerIn(body, 'n') ?? 1;
  if (count !== 1 && !Object.hasOwn(declared, 'count')) throw badInput('n', 'n must be 1 for this workflow');
  if (count !== 1) put('n', 'count', count);
  const size = textIn(body, 'size');
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size ?? '') ?? [];
  if (width !== undefined && Object.hasOwn(declared, 'width') && Object.hasOwn(declared, 'height')) {
    put('size', 'width', Number(width));
    put('size', 'height', Number(height));
  } else if (size !== undefined && size !== 'auto') ignored.push('size');
  ignored.push(...MODEL_FIELDS.filter((name) => (body[name] ?? 'auto') !== 'auto'));
  const slots = Object.keys(declared).filter((name) => isFile(declared[name]) && name !== 'mask');
  if (images.length > slots.length) {
    throw badInput('image', `this workflow takes ${slots.length} image(s)`);
  }
  for (const [index, { media }] of images.entries()) values[slots[index] ?? ''] = { ...media };
  if (mask !== undefined) put('mask', 'mask', { ...mask.media });
  return { inputs: { ...values, ...objectIn(body, 'options') }, ignored };
}

function isFile(input: Json | undefined): boolean {
  return isObject(input) && input['type'] === 'file';
}
