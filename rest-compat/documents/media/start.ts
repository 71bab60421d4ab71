import type { Json } from '../../../platform/json.ts';
import type { TaskAnswer } from '../../replies/task.ts';
import { operation } from '../../route/route.ts';
import { taskAnswer } from './task.ts';

/** The GraphQL documents that start work. Those answer the whole task, so that a synchronous operation may wait for it. */

/** A file among the inputs: one of ours, or an address. */
export type MediaInput = { readonly fileId: string } | { readonly url: string };

/** Starts the recipe of a video template. */
export const CreateTask = operation<
  { readonly createTask: Pick<TaskAnswer, 'id'> },
  {
    readonly taskType: string;
    readonly prompt: string;
    readonly image: MediaInput | null;
    readonly aspectRatio: string;
  }
>(/* GraphQL */ `
  mutation CreateTask(
    $taskType: String!
    $prompt: String!
    $image: MediaInput
    $aspectRatio: String
    $idempotencyKey: String
    $callbackUrl: String
  ) {
    createTask(
      taskType: $taskType
      prompt: $prompt
      image: $image
      aspectRatio: $aspectRatio
      idempotencyKey: $idempotencyKey
      callbackUrl: $callbackUrl
    ) {
      id
    }
  }
`);

/** What to make images of. */
export interface ImageInput {
  readonly generator: string;
  readonly model?: string | undefined;
  readonly prompt: string;
  readonly negativePrompt?: string | undefined;
  readonly images?: readonly MediaInput[] | undefined;
  readonly aspectRatio?: string | undefined;
  readonly resolution?: string | undefined;
  readonly count?: number | undefined;
  readonly seed?: number | undefined;
  readonly speedMode?: string | undefined;
}

/** Starts making images. */
export const GenerateImage = operation<
  { readonly generateImage: TaskAnswer },
  { readonly input: ImageInput }
>(/* GraphQL */ `
  mutation GenerateImage(
    $input: ImageInput!
    $idempotencyKey: String
    $callbackUrl: String
    $cdn: Boolean = false
  ) {
    generateImage(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      ...TaskAnswer
    }
  }
  ${taskAnswer}
`);

/** What to make a video of. */
export interface VideoInput {
  readonly generator: string;
  readonly model?: string | undefined;
  readonly prompt: string;
  readonly negativePrompt?: string | undefined;
  readonly image?: MediaInput | undefined;
  readonly lastFrame?: MediaInput | undefined;
  readonly aspectRatio?: string | undefined;
  readonly resolution?: string | undefined;
  /** Seconds. */
  readonly duration?: number | undefined;
  readonly seed?: number | undefined;
}

/** Starts describing an image. */
export const DescribeImage = operation<
  { readonly describeImage: TaskAnswer },
  { readonly generator: string; readonly image: MediaInput }
>(/* GraphQL */ `
  mutation DescribeImage(
    $generator: String!
    $image: MediaInput!
    $idempotencyKey: String
    $callbackUrl: String
    $cdn: Boolean = false
  ) {
    describeImage(
      generator: $generator
      image: $image
      idempotencyKey: $idempotencyKey
      callbackUrl: $callbackUrl
    ) {
      ...TaskAnswer
    }
  }
  ${taskAnswer}
`);

/** Starts making a video. */
export const GenerateVideo = operation<
  { readonly generateVideo: TaskAnswer },
  { readonly input: VideoInput }
>(/* GraphQL */ `
  mutation GenerateVideo(
    $input: VideoInput!
    $idempotencyKey: String
    $callbackUrl: String
    $cdn: Boolean = false
  ) {
    generateVideo(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      ...TaskAnswer
    }
  }
  ${taskAnswer}
`);

/** Starts saying something. */
export const SynthesizeSpeech = operation<
  { readonly synthesizeSpeech: TaskAnswer },
  {
    readonly input: {
      readonly generator: string;
      readonly model?: string | undefined;
      readonly text: string;
      readonly voiceId: string;
      readonly speed?: number | undefined;
      readonly pitch?: number | undefined;
      readonly volume?: number | undefined;
      readonly emotion?: string | undefined;
      readonly format?: string | undefined;
    };
  }
>(/* GraphQL */ `
  mutation SynthesizeSpeech(
    $input: SpeechInput!
    $idempotencyKey: String
    $callbackUrl: String
    $cdn: Boolean = false
  ) {
    synthesizeSpeech(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      ...TaskAnswer
    }
  }
  ${taskAnswer}
`);

/** Starts making a voice after a sample. */
export const CloneVoice = operation<
  { readonly cloneVoice: TaskAnswer },
  {
    readonly input: {
      readonly generator: string;
      readonly model?: string | undefined;
      readonly sample: MediaInput;
      readonly voiceId: string;
      readonly text?: string | undefined;
    };
  }
>(/* GraphQL */ `
  mutation CloneVoice(
    $input: VoiceCloneInput!
    $idempotencyKey: String
    $callbackUrl: String
    $cdn: Boolean = false
  ) {
    cloneVoice(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      ...TaskAnswer
    }
  }
  ${taskAnswer}
`);

/** Starts running a ComfyUI graph. */
export const RunComfyWorkflow = operation<
  { readonly runComfyWorkflow: TaskAnswer },
  {
    readonly input: {
      readonly workflow?: Json | undefined;
      readonly workflowName?: string | undefined;
      readonly inputs?: Json | undefined;
      readonly node?: string | undefined;
    };
  }
>(/* GraphQL */ `
  mutation RunComfyWorkflow(
    $input: ComfyWorkflowInput!
    $idempotencyKey: String
    $callbackUrl: String
    $cdn: Boolean = false
  ) {
    runComfyWorkflow(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      ...TaskAnswer
    }
  }
  ${taskAnswer}
`);

/** Starts putting a picture, a recording or a video into words. */
export const AnalyzeMedia = operation<
  { readonly analyzeMedia: TaskAnswer },
  {
    readonly input: {
      readonly generator: string;
      readonly model?: string | undefined;
      readonly media: MediaInput;
      readonly prompt: string;
      readonly system?: string | undefined;
    };
  }
>(/* GraphQL */ `
  mutation AnalyzeMedia(
    $input: AnalysisInput!
    $idempotencyKey: String
    $callbackUrl: String
    $cdn: Boolean = false
  ) {
    analyzeMedia(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      ...TaskAnswer
    }
  }
  ${taskAnswer}
`);
