import { AppError, badInput } from '../../../platform/errors.ts';
import { HttpFailure } from '../../../platform/http/http-client.ts';
import type { OutboundRule } from '../../../platform/http/safe-url.ts';
import { isObject } from '../../../platform/json.ts';
import { type ComfyWorkflow, comfyWorkflows } from '../comfy-workflows/comfy-workflows.ts';
import { UpstreamError } from '../domain/failure.ts';
import type { FileKind, InputRef } from '../domain/inputs/input-files.ts';
import { listWorkFiles } from '../domain/work/files.ts';
import type { Work } from '../domain/work/work.ts';
import type { Binding, GeneratorRegistry } from '../generators/bindings/binding.ts';
import { modelNames, serves } from '../generators/bindings/registry.ts';
import type { ComfyRequest } from './submissions.ts';

/** For work that the workflow service starts: its generator is looked up by model, and it is checked before it is paid. */

interface Named {
  readonly generator: string;
  readonly model?: string | null | undefined;
}

/**
 * The request with a generator that has its model: templates name a model or a generator, not both. Where the request's
 * own generator lacks the model, the first one that has it is used. BAD_USER_INPUT naming every model when none has it.
 */
export function withGenerator<Request extends Named>(
  registry: Pick<GeneratorRegistry, 'all'>,
  kind: 'IMAGE' | 'VIDEO',
  request: Request,
): Request {
  const { generator, model } = request;
  if (!model) return request;
  const able = registry.all().filter((binding) => serves(binding, kind));
  if (able.some((binding) => binding.generator === generator && serves(binding, kind, model))) return request;
  const owner = able.find((binding) => lists(binding, kind, model));
  if (owner !== undefined) return { ...request, generator: owner.generator };
  if (able.some((binding) => binding.generator === model))
    return { ...request, generator: model, model: null };
  // The model is that of the template's images; the video uses the default model.
  if (kind === 'VIDEO' && registry.all().some((binding) => lists(binding, 'IMAGE', model))) {
    return { ...request, model: null };
  }
  const made = kind === 'IMAGE' ? 'images' : 'videos';
  throw badInput(
    'model',
    `model: no generator here makes ${made} with it; known are ${modelNames(able, kind)}`,
  );
}

function lists({ models = [] }: Binding, kind: string, model: string): boolean {
  return models.some(({ id, kinds }) => id === model && kinds.includes(kind));
}

/**
 * A named comfy workflow with only the inputs that it declares: executions may store more. `imageUrl`, as every
 * template calls it, is the workflow's file.
 */
export function fittingComfy(request: ComfyRequest, saved: ComfyWorkflow | null): ComfyRequest {
  const { workflowName, inputs } = request;
  const bundled = saved ?? comfyWorkflows.find(({ name }) => name === workflowName);
  if (bundled === undefined || !isObject(inputs)) return request;
  const { imageUrl = null } = inputs;
  const [file] = Object.keys(bundled.inputs).filter((name) => bundled.inputs[name]?.type === 'file');
  const merged = file === undefined || imageUrl === null ? inputs : { [file]: imageUrl, ...inputs };
  const own = Object.entries(merged).filter(([name]) => Object.hasOwn(bundled.inputs, name));
  return { ...request, inputs: Object.fromEntries(own) };
}

/** Refuses files at addresses that are private by their form, as fetching them will be. BAD_USER_INPUT naming the field. */
export function checkAddresses(outbound: OutboundRule, work: Work): void {
  for (const { file, field } of namedFiles(work)) checkAddress(outbound, field, file);
}

/** An input at a foreign address. */
export interface FetchedInput {
  readonly url: string;
  readonly field: string;
  /** What it must be. */
  readonly kind: FileKind;
}

/** Fetches the inputs at foreign addresses, one after the other. BAD_USER_INPUT naming the field of one that can't be had. */
export async function fetchForeignInputs(
  work: Work,
  fetch: (input: FetchedInput) => Promise<unknown>,
): Promise<void> {
  for (const { file, field, kind } of namedFiles(work)) {
    if (!('url' in file)) continue;
    try {
      await fetch({ url: file.url, field, kind });
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      throw new AppError('BAD_USER_INPUT', error.message, { field, cause: error });
    }
  }
}

/** The files of work, by the fields that callers know. */
function namedFiles(work: Work): readonly { file: InputRef; field: string; kind: FileKind }[] {
  if (work.kind === 'RECIPE') {
    return work.image === undefined ? [] : [{ file: work.image, field: 'image', kind: 'image' }];
  }
  const isComfy = work.kind === 'COMFY_WORKFLOW';
  return listWorkFiles(work).map(({ file, field, key, kind }) => ({
    file,
    field: isComfy ? `${field}.${inputAt(String(key), work.workflowName)}` : field,
    kind,
  }));
}

/** The name of the input that a key of a bundled comfy workflow belongs to; in a whole graph the key itself. */
function inputAt(key: string, workflowName: string | undefined): string {
  const { inputs = {} } = comfyWorkflows.find(({ name }) => name === workflowName) ?? {};
  return Object.keys(inputs).find((name) => inputs[name]?.at.includes(key)) ?? key;
}

/** Names that mean the machine itself wherever they are resolved. */
const LOOPBACK_NAME = /(?:^|\.)localhost\.?$/;

function checkAddress(outbound: OutboundRule, field: string, ref: InputRef): void {
  if (!('url' in ref)) return;
  try {
    const { url, guarded } = outbound.admit(ref.url);
    if (guarded && LOOPBACK_NAME.test(url.hostname))
      throw badInput(field, `${field} can't be fetched: ${url.host} is not a public address`);
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    throw badInput(field, `${field} can't be fetched: ${error.message}`);
  }
}
