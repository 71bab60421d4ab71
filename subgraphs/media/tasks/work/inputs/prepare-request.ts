import { spelledAs } from '../../../domain/inputs/checks.ts';
import type { InputRef, StepInput } from '../../../domain/task.ts';
import type { ModelLimits } from '../../../generators/bindings/binding.ts';
import { modelFor } from '../../../generators/limits/limits.ts';
import type { InputFile, WorkRequest } from '../../../providers/contract/provider.ts';
import { prepareFile, type InputDependencies, type InputOptions } from './input-files.ts';
import { personRefsOf, personRequest, type PreparePlace } from './person-inputs.ts';

/** A step's input as its provider takes it. Throws UpstreamError INVALID_INPUT, naming the field, when an input can't be had. */
export async function prepareRequest(
  dependencies: InputDependencies,
  input: StepInput,
  options: Omit<InputOptions, 'late'>,
): Promise<WorkRequest> {
  const limits = modelFor(options.binding, input);
  const late = AbortSignal.timeout(dependencies.limits.inputsTimeoutMs);
  const file: PreparePlace = (ref, field, kind) =>
    prepareFile(dependencies, ref, { field, kind }, { ...options, late });
  const frame = async (ref: InputRef | undefined, field: string) =>
    ref === undefined ? null : file(ref, field, 'picture');
  switch (input.kind) {
    case 'DESCRIPTION':
      return { kind: input.kind, image: await file(input.image, 'image', 'picture') };
    case 'IMAGE':
      return imageRequest(
        input,
        limits,
        await inOrder(input.images ?? [], (ref) => file(ref, 'images', 'picture')),
      );
    case 'VIDEO':
    case 'FRAME_VIDEO':
      return videoRequest(input, limits, {
        firstFrame: await frame(input.firstFrame ?? input.image, 'image'),
        lastFrame: await frame(input.lastFrame, 'lastFrame'),
      });
    case 'SPEECH':
      return speechRequest(input, limits);
    case 'VOICE_CLONE':
      return {
        kind: input.kind,
        sample: await file(input.sample, 'sample', 'sound'),
        voiceId: input.voiceId ?? null,
        name: input.name ?? null,
        text: input.text ?? null,
      };
    case 'COMFY_WORKFLOW': {
      const names = Object.keys(input.files);
      const files = await inOrder(Object.values(input.files), (ref) => file(ref, 'inputs'));
      return {
        kind: input.kind,
        workflow: input.workflow,
        files: Object.fromEntries(names.flatMap((name, index) => pairOf(name, files[index]))),
        node: input.node ?? null,
      };
    }
    case 'ANALYSIS': {
      const { prompt, system = null } = input;
      return { kind: input.kind, media: await file(input.media, 'media', 'media'), prompt, system };
    }
    default:
      return personRequest(input, limits, file);
  }
}

function pairOf(name: string, file: InputFile | undefined): [string, InputFile][] {
  return file === undefined ? [] : [[name, file]];
}

/** One after the other: a foreign host is not asked for everything at once. */
async function inOrder<Item, Result>(
  items: readonly Item[],
  prepare: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await prepare(item));
  return results;
}

type StepOf<Kind extends StepInput['kind']> = Extract<StepInput, { kind: Kind }>;

function imageRequest(
  input: StepOf<'IMAGE'>,
  limits: ModelLimits | undefined,
  images: readonly InputFile[],
): WorkRequest {
  return {
    kind: 'IMAGE',
    prompt: input.prompt,
    negativePrompt: input.negativePrompt ?? null,
    images,
    aspectRatio: input.aspectRatio ?? null,
    resolution: spelledAs(limits?.sizes, input.resolution ?? null),
    count: input.count ?? null,
    seed: input.seed ?? null,
    speedMode: input.speedMode ?? null,
  };
}

function videoRequest(
  input: StepOf<'VIDEO' | 'FRAME_VIDEO'>,
  limits: ModelLimits | undefined,
  frames: { readonly firstFrame: InputFile | null; readonly lastFrame: InputFile | null },
): WorkRequest {
  return {
    kind: 'VIDEO',
    prompt: input.prompt ?? null,
    negativePrompt: input.negativePrompt ?? null,
    ...frames,
    aspectRatio: input.aspectRatio ?? null,
    resolution: spelledAs(limits?.sizes, input.resolution ?? null),
    duration: input.duration ?? null,
    seed: input.seed ?? null,
  };
}

function speechRequest(input: StepOf<'SPEECH'>, limits: ModelLimits | undefined): WorkRequest {
  return {
    kind: 'SPEECH',
    text: input.text,
    voiceId: input.voiceId,
    speed: input.speed ?? null,
    pitch: input.pitch ?? null,
    volume: input.volume ?? null,
    emotion: input.emotion ?? null,
    format: spelledAs(limits?.formats, input.format ?? null),
  };
}

/** Whether preparing this input fetches something first. */
export function fetchesInput(input: StepInput): boolean {
  return refsOf(input).some((ref) => 'url' in ref);
}

/** Every file among the inputs. */
function refsOf(input: StepInput): readonly InputRef[] {
  switch (input.kind) {
    case 'DESCRIPTION':
      return [input.image];
    case 'IMAGE':
      return input.images ?? [];
    case 'VIDEO':
    case 'FRAME_VIDEO':
      return [input.image, input.firstFrame, input.lastFrame].filter((ref) => ref !== undefined);
    case 'VOICE_CLONE':
      return [input.sample];
    case 'COMFY_WORKFLOW':
      return Object.values(input.files);
    case 'ANALYSIS':
      return [input.media];
    case 'SPEECH':
      return [];
    default:
      return personRefsOf(input);
  }
}
