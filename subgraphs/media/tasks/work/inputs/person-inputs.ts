import { UpstreamError } from '../../../domain/failure.ts';
import { spelledAs } from '../../../domain/inputs/checks.ts';
import type { FileKind } from '../../../domain/inputs/file-kinds.ts';
import { AVATAR_SOURCE_TYPE, type InputRef, type StepInput } from '../../../domain/task.ts';
import type { ModelLimits } from '../../../generators/bindings/binding.ts';
import type { InputFile, WorkRequest } from '../../../providers/contract/provider.ts';

/** Work with people in it (lip-sync, characters, avatars) as its provider takes it. */

type PersonInput = Extract<
  StepInput,
  {
    kind:
      | 'LIP_SYNC'
      | 'CHARACTER'
      | 'CHARACTER_IMAGE'
      | 'PERSON_DETECTION'
      | 'HUMAN_VIDEO'
      | 'AVATAR_SOURCE'
      | 'AVATAR'
      | 'AVATAR_VIDEO';
  }
>;

/** Prepares one file of a step; `kind` is what it must be, where that is known. */
export type PreparePlace = (ref: InputRef, field: string, kind?: FileKind) => Promise<InputFile>;

/** The request of a step; `file` prepares one of its files. Throws UpstreamError INVALID_INPUT, naming the field. */
export async function personRequest(
  input: PersonInput,
  limits: ModelLimits | undefined,
  file: PreparePlace,
): Promise<WorkRequest> {
  switch (input.kind) {
    case 'LIP_SYNC':
      return lipSyncRequest(input, limits, file);
    case 'CHARACTER': {
      const images: InputFile[] = [];
      // One after the other: a foreign host is not asked for everything at once.
      for (const ref of input.images) images.push(await file(ref, 'images', 'picture'));
      return { kind: input.kind, name: input.name, images };
    }
    case 'CHARACTER_IMAGE':
      return {
        kind: input.kind,
        characterId: input.characterId ?? null,
        prompt: input.prompt,
        aspectRatio: input.aspectRatio ?? null,
        resolution: spelledAs(limits?.sizes, input.resolution ?? null),
        count: input.count ?? null,
        seed: input.seed ?? null,
      };
    case 'PERSON_DETECTION':
      return { kind: input.kind, image: await file(input.image, 'image', 'picture') };
    case 'HUMAN_VIDEO':
      return {
        kind: input.kind,
        image: await file(input.image, 'image', 'picture'),
        audio: await file(input.audio, 'audio', 'sound'),
        prompt: input.prompt ?? null,
        resolution: spelledAs(limits?.sizes, input.resolution ?? null),
      };
    case 'AVATAR_SOURCE':
      return { kind: input.kind, video: mp4(await file(input.video, 'source')) };
    case 'AVATAR':
      return { kind: input.kind, videoId: input.videoId, name: input.name ?? null };
    default:
      return avatarVideoRequest(input, limits, file);
  }
}

/** What came from somewhere else is looked at here for the first time: by what it is, not by its name. */
function mp4(video: InputFile): InputFile {
  if (video.contentType === AVATAR_SOURCE_TYPE) return video;
  const message = `source: wrong file format, an MP4 video is needed; this is ${video.contentType}`;
  throw new UpstreamError('INVALID_INPUT', message, { retryable: false, field: 'source' });
}

async function lipSyncRequest(
  input: Extract<PersonInput, { kind: 'LIP_SYNC' }>,
  limits: ModelLimits | undefined,
  file: PreparePlace,
): Promise<WorkRequest> {
  const maybe = async (ref: InputRef | undefined, field: string, kind: FileKind) =>
    ref === undefined ? null : file(ref, field, kind);
  return {
    kind: input.kind,
    image: await maybe(input.image, 'image', 'face'),
    video: await maybe(input.video, 'video', 'face'),
    audio: await maybe(input.audio, 'audio', 'sound'),
    text: input.text ?? null,
    voiceId: input.voiceId ?? null,
    prompt: input.prompt ?? null,
    aspectRatio: input.aspectRatio ?? null,
    resolution: spelledAs(limits?.sizes, input.resolution ?? null),
  };
}

async function avatarVideoRequest(
  input: Extract<PersonInput, { kind: 'AVATAR_VIDEO' }>,
  limits: ModelLimits | undefined,
  file: PreparePlace,
): Promise<WorkRequest> {
  // A text was spoken in a step before this one, and its sound put here.
  if (input.audio === undefined) {
    throw new UpstreamError('INVALID_INPUT', 'audio: is needed', { retryable: false, field: 'audio' });
  }
  return {
    kind: input.kind,
    digitalId: input.digitalId,
    audio: await file(input.audio, 'audio', 'sound'),
    resolution: spelledAs(limits?.sizes, input.resolution ?? null),
  };
}

/** Every file among the inputs. */
export function personRefsOf(input: PersonInput): readonly InputRef[] {
  switch (input.kind) {
    case 'LIP_SYNC':
      return given(input.image, input.video, input.audio);
    case 'CHARACTER':
      return input.images;
    case 'PERSON_DETECTION':
      return [input.image];
    case 'HUMAN_VIDEO':
      return [input.image, input.audio];
    case 'AVATAR_SOURCE':
      return [input.video];
    case 'AVATAR_VIDEO':
      return given(input.audio);
    default:
      return [];
  }
}

function given(...refs: readonly (InputRef | undefined)[]): readonly InputRef[] {
  return refs.filter((ref) => ref !== undefined);
}
