import { type InputOf, graphql } from '../graphql.ts';
import { taskFields } from './task.ts';

/** The GraphQL documents that start work. Those answer the whole task, so that a synchronous operation may wait for it. */

/** The variables that every start has. */
export const startVariables = '$idempotencyKey: String, $callbackUrl: String';
/** The arguments that take them. */
export const startArguments = 'idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl';

/** Starts the recipe of a video template. */
export const CreateTask = graphql(
  `mutation CreateTask($taskType: String!, $prompt: String!, $image: MediaInput, $aspectRatio: String, $options: JSON, ${startVariables}) {
    createTask(taskType: $taskType, prompt: $prompt, image: $image, aspectRatio: $aspectRatio, options: $options, ${startArguments}) {
      id
      manageToken
    }
  }`,
);

/** Starts making images. */
export const GenerateImage = graphql(
  `mutation GenerateImage($input: ImageInput!, ${startVariables}, $cdn: Boolean = false) {
    generateImage(input: $input, ${startArguments}) { ...TaskFields }
  }`,
  [taskFields],
);

/** What to make images of. */
export type ImageInput = InputOf<typeof GenerateImage>['input'];

/** A file among the inputs: one of ours, or an address. */
export type MediaInput = InputOf<typeof DescribeImage>['image'];

/** Starts describing an image. */
export const DescribeImage = graphql(
  `mutation DescribeImage($generator: String!, $image: MediaInput!, $options: JSON, ${startVariables}, $cdn: Boolean = false) {
    describeImage(generator: $generator, image: $image, options: $options, ${startArguments}) { ...TaskFields }
  }`,
  [taskFields],
);

/** Starts making a video. */
export const GenerateVideo = graphql(
  `mutation GenerateVideo($input: VideoInput!, ${startVariables}, $cdn: Boolean = false) {
    generateVideo(input: $input, ${startArguments}) { ...TaskFields }
  }`,
  [taskFields],
);

/** What to make a video of. */
export type VideoInput = InputOf<typeof GenerateVideo>['input'];

/** Starts saying something. */
export const SynthesizeSpeech = graphql(
  `mutation SynthesizeSpeech($input: SpeechInput!, ${startVariables}, $cdn: Boolean = false) {
    synthesizeSpeech(input: $input, ${startArguments}) { ...TaskFields }
  }`,
  [taskFields],
);

/** Starts making a voice after a sample. */
export const CloneVoice = graphql(
  `mutation CloneVoice($input: VoiceCloneInput!, ${startVariables}, $cdn: Boolean = false) {
    cloneVoice(input: $input, ${startArguments}) { ...TaskFields }
  }`,
  [taskFields],
);

/** Starts running a ComfyUI graph. */
export const RunComfyWorkflow = graphql(
  `mutation RunComfyWorkflow($input: ComfyWorkflowInput!, ${startVariables}, $cdn: Boolean = false) {
    runComfyWorkflow(input: $input, ${startArguments}) { ...TaskFields }
  }`,
  [taskFields],
);

/** Starts putting a picture, a recording or a video into words. */
export const AnalyzeMedia = graphql(
  `mutation AnalyzeMedia($input: AnalysisInput!, ${startVariables}, $cdn: Boolean = false) {
    analyzeMedia(input: $input, ${startArguments}) { ...TaskFields }
  }`,
  [taskFields],
);
