import type { FileUpload } from 'graphql-upload-minimal';

import type { Caller } from '../../../platform/access/caller.ts';
import type { Task } from '../domain/task.ts';
import type { StoredFile } from '../files/files.ts';
import type {
  AvatarRequest,
  AvatarSourceRequest,
  AvatarVideoRequest,
  CharacterImageRequest,
  CharacterRequest,
  DetectionRequest,
  FrameVideoRequest,
  HumanVideoRequest,
  LipSyncRequest,
} from './requests/person-requests.ts';

/**
 * From what a caller sent to what tasks/ takes: files are stored or recognised, templates copied, inputs checked, the
 * fingerprint built. Implemented by createSubmissionService (service.ts). What a task then does is not known here.
 */
export interface SubmissionService {
  /** Starts a recipe by the task type of a living video template. */
  createTask(caller: Caller, request: RecipeRequest, options: SubmissionOptions): Promise<Task>;
  generateImage(caller: Caller, request: ImageRequest, options: SubmissionOptions): Promise<Task>;
  describeImage(caller: Caller, request: DescriptionRequest, options: SubmissionOptions): Promise<Task>;
  generateVideo(caller: Caller, request: VideoRequest, options: SubmissionOptions): Promise<Task>;
  synthesizeSpeech(caller: Caller, request: SpeechRequest, options: SubmissionOptions): Promise<Task>;
  cloneVoice(caller: Caller, request: VoiceCloneRequest, options: SubmissionOptions): Promise<Task>;
  analyzeMedia(caller: Caller, request: AnalysisRequest, options: SubmissionOptions): Promise<Task>;
  /** Fills a bundled comfy workflow, or takes a whole graph; a graph that can't be one is refused, naming the node. */
  runComfyWorkflow(caller: Caller, request: ComfyRequest, options: SubmissionOptions): Promise<Task>;
  /** A video from a first frame to a last one. */
  generateFrameVideo(caller: Caller, request: FrameVideoRequest, options: SubmissionOptions): Promise<Task>;
  lipSync(caller: Caller, request: LipSyncRequest, options: SubmissionOptions): Promise<Task>;
  createCharacter(caller: Caller, request: CharacterRequest, options: SubmissionOptions): Promise<Task>;
  generateCharacterImage(
    caller: Caller,
    request: CharacterImageRequest,
    options: SubmissionOptions,
  ): Promise<Task>;
  detectPerson(caller: Caller, request: DetectionRequest, options: SubmissionOptions): Promise<Task>;
  generateHumanVideo(caller: Caller, request: HumanVideoRequest, options: SubmissionOptions): Promise<Task>;
  uploadAvatarSource(caller: Caller, request: AvatarSourceRequest, options: SubmissionOptions): Promise<Task>;
  createAvatar(caller: Caller, request: AvatarRequest, options: SubmissionOptions): Promise<Task>;
  /** With a text, the task speaks it first: one task of two steps. */
  generateAvatarVideo(caller: Caller, request: AvatarVideoRequest, options: SubmissionOptions): Promise<Task>;
  /** startTask: the same work under an id and for an owner that the asker chose; the same id again is the same task. */
  startTask(caller: Caller, request: StartRequest, options: { readonly signal: AbortSignal }): Promise<Task>;
  /** Throws what startTask would refuse because of the work itself. Starts and stores nothing. */
  checkStart(
    caller: Caller,
    start: StartRequest['start'],
    options: { readonly signal: AbortSignal },
  ): Promise<void>;
  /** Stores a file for the caller: for good, or for an hour unless a task claims it. */
  uploadFile(
    caller: Caller,
    upload: Promise<FileUpload>,
    options: { readonly temporary: boolean; readonly signal: AbortSignal },
  ): Promise<StoredFile>;
}

export interface SubmissionOptions {
  readonly idempotencyKey: string | null;
  /** Address that a result webhook tells the end to. */
  readonly callbackUrl?: string | null | undefined;
  /** Aborted when the caller hangs up: stops an upload that is still coming in. */
  readonly signal: AbortSignal;
}

/** A file among the inputs, in exactly one of three ways. */
export interface MediaInput {
  /** A public address, or one of our own file addresses. */
  readonly url?: string | null | undefined;
  readonly upload?: Promise<FileUpload> | null | undefined;
  /** The id of a file of ours. */
  readonly fileId?: string | number | null | undefined;
}

/** Work in several steps, by its `task_type`. */
export interface RecipeRequest {
  readonly taskType: string;
  readonly prompt: string;
  readonly image?: MediaInput | null | undefined;
  readonly aspectRatio?: string | null | undefined;
}

/** Pictures from words, and from pictures. */
export interface ImageRequest {
  readonly generator: string;
  readonly model?: string | null | undefined;
  readonly prompt: string;
  readonly negativePrompt?: string | null | undefined;
  readonly images?: readonly MediaInput[] | null | undefined;
  readonly aspectRatio?: string | null | undefined;
  readonly resolution?: string | null | undefined;
  readonly count?: number | null | undefined;
  readonly seed?: number | null | undefined;
  readonly speedMode?: string | null | undefined;
}

/** Words for a picture. */
export interface DescriptionRequest {
  readonly generator: string;
  readonly image: MediaInput;
}

/** A video from words, or from pictures. */
export interface VideoRequest {
  readonly generator: string;
  readonly model?: string | null | undefined;
  readonly prompt?: string | null | undefined;
  readonly negativePrompt?: string | null | undefined;
  /** A picture that starts to move; not together with firstFrame. */
  readonly image?: MediaInput | null | undefined;
  readonly firstFrame?: MediaInput | null | undefined;
  readonly lastFrame?: MediaInput | null | undefined;
  readonly aspectRatio?: string | null | undefined;
  readonly resolution?: string | null | undefined;
  /** Seconds. */
  readonly duration?: number | null | undefined;
  readonly seed?: number | null | undefined;
}

/** A text shall be spoken. */
export interface SpeechRequest {
  readonly generator: string;
  readonly model?: string | null | undefined;
  readonly text: string;
  readonly voiceId: string;
  readonly speed?: number | null | undefined;
  readonly pitch?: number | null | undefined;
  readonly volume?: number | null | undefined;
  readonly emotion?: string | null | undefined;
  readonly format?: string | null | undefined;
}

/** A voice is to be learned from a sample. */
export interface VoiceCloneRequest {
  readonly generator: string;
  readonly model?: string | null | undefined;
  readonly sample: MediaInput;
  readonly voiceId?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly text?: string | null | undefined;
}

/** A question about a picture, a video or a sound. */
export interface AnalysisRequest {
  readonly generator: string;
  readonly model?: string | null | undefined;
  readonly media: MediaInput;
  readonly prompt: string;
  readonly system?: string | null | undefined;
}

/** Exactly one of workflow and workflowName. */
export interface ComfyRequest {
  /** A whole graph: node id -> { class_type, inputs }. */
  readonly workflow?: unknown;
  /** Name of a bundled comfy workflow. */
  readonly workflowName?: string | null | undefined;
  /** Values for its declared inputs, or for `<node id>.<input name>` of a whole graph. */
  readonly inputs?: unknown;
  readonly node?: string | null | undefined;
}

/** A task on behalf of the workflow service, which chose its id and knows its owner. */
export interface StartRequest {
  readonly id: string;
  readonly owner: string;
  /** Queue that hears of the end. */
  readonly onEnd: string | null;
  /** Exactly one of them. */
  readonly start: {
    readonly recipe?: RecipeRequest | null | undefined;
    readonly image?: ImageRequest | null | undefined;
    readonly video?: VideoRequest | null | undefined;
    readonly comfy?: ComfyRequest | null | undefined;
  };
}
