import { type InputOf, graphql } from '../graphql.ts';
import { taskFields } from './task.ts';

/** The GraphQL documents that start work. Those answer the whole task, so that a synchronous operation may wait for it. */

/** The variables that every start has. */
const startVariables = '$idempotencyKey: String, $callbackUrl: String';
/** The arguments that take them. */
const startArguments = 'idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl';

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

/** Starts putting an image, a recording or a video into words. */
export const AnalyzeMedia = graphql(
  `mutation AnalyzeMedia($input: AnalysisInput!, ${startVariables}, $cdn: Boolean = false) {
    analyzeMedia(input: $input, ${startArguments}) { ...TaskFields }
  }`,
  [taskFields],
);

/** The GraphQL documents that start work with people in it, and videos between two frames. None of them is waited for. */

/** Starts a video from one image to another. */
export const GenerateFrameVideo = graphql(
  `mutation GenerateFrameVideo($input: VideoInput!, ${startVariables}) {
    generateFrameVideo(input: $input, ${startArguments}) { id manageToken }
  }`,
);

/** Starts a video of a face that says something. */
export const LipSync = graphql(`mutation LipSync($input: LipSyncInput!, ${startVariables}) {
    lipSync(input: $input, ${startArguments}) { id manageToken }
  }`);

/** Starts learning a person from images. */
export const CreateCharacter = graphql(`mutation CreateCharacter($input: CharacterInput!, ${startVariables}) {
    createCharacter(input: $input, ${startArguments}) { id manageToken }
  }`);

/** Starts making images of a character. */
export const GenerateCharacterImage = graphql(
  `mutation GenerateCharacterImage($input: CharacterImageInput!, ${startVariables}) {
    generateCharacterImage(input: $input, ${startArguments}) { id manageToken }
  }`,
);

/** Starts looking for somebody in an image. */
export const DetectPerson = graphql(`mutation DetectPerson($image: MediaInput!, ${startVariables}) {
    detectPerson(image: $image, ${startArguments}) { id manageToken }
  }`);

/** Starts a video of somebody who says what is heard. */
export const GenerateHumanVideo = graphql(
  `mutation GenerateHumanVideo($input: HumanVideoInput!, ${startVariables}) {
    generateHumanVideo(input: $input, ${startArguments}) { id manageToken }
  }`,
);

/** Starts handing a video to the cloud of avatars. */
export const UploadAvatarSource = graphql(
  `mutation UploadAvatarSource($source: MediaInput!, ${startVariables}) {
    uploadAvatarSource(source: $source, ${startArguments}) { id manageToken }
  }`,
);

/** Starts making an avatar. */
export const CreateAvatar = graphql(`mutation CreateAvatar($input: AvatarInput!, ${startVariables}) {
    createAvatar(input: $input, ${startArguments}) { id manageToken }
  }`);

/** Starts a video of an avatar that speaks. */
export const GenerateAvatarVideo = graphql(
  `mutation GenerateAvatarVideo($input: AvatarVideoInput!, ${startVariables}) {
    generateAvatarVideo(input: $input, ${startArguments}) { id manageToken }
  }`,
);
