import { type InputOf, graphql } from '../graphql.ts';
import { taskFields } from './task.ts';

/** The GraphQL documents that start work. Those answer the whole task, so that a synchronous operation may wait for it. */

/** Starts the recipe of a video template. */
export const CreateTask = graphql(`
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
      manageToken
    }
  }
`);

/** Starts making images. */
export const GenerateImage = graphql(
  `
    mutation GenerateImage(
      $input: ImageInput!
      $idempotencyKey: String
      $callbackUrl: String
      $cdn: Boolean = false
    ) {
      generateImage(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
        ...TaskFields
      }
    }
  `,
  [taskFields],
);

/** What to make images of. */
export type ImageInput = InputOf<typeof GenerateImage>['input'];

/** A file among the inputs: one of ours, or an address. */
export type MediaInput = InputOf<typeof DescribeImage>['image'];

/** Starts describing an image. */
export const DescribeImage = graphql(
  `
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
        ...TaskFields
      }
    }
  `,
  [taskFields],
);

/** Starts making a video. */
export const GenerateVideo = graphql(
  `
    mutation GenerateVideo(
      $input: VideoInput!
      $idempotencyKey: String
      $callbackUrl: String
      $cdn: Boolean = false
    ) {
      generateVideo(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
        ...TaskFields
      }
    }
  `,
  [taskFields],
);

/** What to make a video of. */
export type VideoInput = InputOf<typeof GenerateVideo>['input'];

/** Starts saying something. */
export const SynthesizeSpeech = graphql(
  `
    mutation SynthesizeSpeech(
      $input: SpeechInput!
      $idempotencyKey: String
      $callbackUrl: String
      $cdn: Boolean = false
    ) {
      synthesizeSpeech(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
        ...TaskFields
      }
    }
  `,
  [taskFields],
);

/** Starts making a voice after a sample. */
export const CloneVoice = graphql(
  `
    mutation CloneVoice(
      $input: VoiceCloneInput!
      $idempotencyKey: String
      $callbackUrl: String
      $cdn: Boolean = false
    ) {
      cloneVoice(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
        ...TaskFields
      }
    }
  `,
  [taskFields],
);

/** Starts running a ComfyUI graph. */
export const RunComfyWorkflow = graphql(
  `
    mutation RunComfyWorkflow(
      $input: ComfyWorkflowInput!
      $idempotencyKey: String
      $callbackUrl: String
      $cdn: Boolean = false
    ) {
      runComfyWorkflow(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
        ...TaskFields
      }
    }
  `,
  [taskFields],
);

/** Starts putting a picture, a recording or a video into words. */
export const AnalyzeMedia = graphql(
  `
    mutation AnalyzeMedia(
      $input: AnalysisInput!
      $idempotencyKey: String
      $callbackUrl: String
      $cdn: Boolean = false
    ) {
      analyzeMedia(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
        ...TaskFields
      }
    }
  `,
  [taskFields],
);
