import { modelSpelling, type Limits } from '../inputs/checks.ts';
import type { InputFile } from '../inputs/input-files.ts';
import { withTranslations } from '../inputs/vendor-options/translated.ts';
import type { AvatarVideoWork } from './avatar.ts';
import type { VideoWork } from './video.ts';
import type { StepInput, StepKind } from './work.ts';

/**
 * What is to be made, in the terms that all wires share; what the caller left open is absent. The stored work with its
 * files at hand and without generator and model, but for videos and for avatars that speak.
 */
export type WorkRequest =
  | ForWire<Exclude<StepInput<InputFile>, { readonly kind: 'VIDEO' | 'FRAME_VIDEO' | 'AVATAR_VIDEO' }>>
  | VideoRequest
  | AvatarVideoRequest;

type ForWire<Work> = Work extends unknown ? OrUndefined<Omit<Work, 'generator' | 'model'>> : never;

/** Absent and undefined are the same. */
type OrUndefined<Shape> = {
  readonly [Name in keyof Shape]: object extends Pick<Shape, Name> ? Shape[Name] | undefined : Shape[Name];
};

/** A video; its reference image is its first frame, and one between two frames has both. */
export type VideoRequest = Omit<ForWire<VideoWork<InputFile>>, 'image'>;

/** What an avatar says, as audio: a text was synthesised in an earlier step. */
type AvatarVideoRequest = Omit<ForWire<AvatarVideoWork>, 'audio' | 'text' | 'voiceId'> & {
  readonly audio: InputFile;
};

/** A kind of request. */
export type RequestKind = WorkRequest['kind'];

/** The request of one kind. */
export type RequestOf<Kind extends RequestKind> = Extract<WorkRequest, { readonly kind: Kind }>;

/** What a wire is asked for: a video between two frames is a video that has both. */
export function requestKind(kind: StepKind): RequestKind {
  return kind === 'FRAME_VIDEO' ? 'VIDEO' : kind;
}

/** The request of work whose files are at hand, its choices spelled as the model lists them; null when the audio is missing. */
export function toWorkRequest(work: StepInput<InputFile>, limits: Limits): WorkRequest | null {
  const { generator: _, model: __, ...rest } = work;
  const request = withTranslations(withModelSpelling(rest, limits), limits?.options ?? null);
  switch (request.kind) {
    case 'VIDEO':
    case 'FRAME_VIDEO': {
      const { image, firstFrame = image, ...video } = request;
      return { ...video, kind: 'VIDEO', ...(firstFrame === undefined ? {} : { firstFrame }) };
    }
    case 'AVATAR_VIDEO': {
      const { text: ___, voiceId: ____, audio, ...video } = request;
      return audio === undefined ? null : { ...video, audio };
    }
    default:
      return request;
  }
}

function withModelSpelling<Request extends object>(request: Request, limits: Limits): Request {
  const { resolution, format }: { readonly resolution?: string; readonly format?: string } = request;
  return {
    ...request,
    ...(resolution === undefined ? {} : { resolution: modelSpelling(limits?.sizes, resolution) }),
    ...(format === undefined ? {} : { format: modelSpelling(limits?.formats, format) }),
  };
}
