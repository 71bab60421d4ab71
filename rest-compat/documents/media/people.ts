import type { TaskAnswer } from '../../replies/task.ts';
import { operation } from '../../route/route.ts';
import type { MediaInput } from './start.ts';

/** The GraphQL documents that start work with people in it, and videos between two frames. None of them is waited for. */

type Started = Pick<TaskAnswer, 'id'>;

/** Starts a video from one picture to another. */
export const GenerateFrameVideo = operation<
  { readonly generateFrameVideo: Started },
  {
    readonly input: {
      readonly generator: string;
      readonly model?: string | undefined;
      readonly prompt?: string | undefined;
      readonly firstFrame: MediaInput;
      readonly lastFrame: MediaInput;
      readonly aspectRatio?: string | undefined;
      readonly resolution?: string | undefined;
      /** Seconds. */
      readonly duration?: number | undefined;
      readonly seed?: number | undefined;
    };
  }
>(/* GraphQL */ `
  mutation GenerateFrameVideo($input: VideoInput!, $idempotencyKey: String, $callbackUrl: String) {
    generateFrameVideo(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      id
    }
  }
`);

/** Starts a video of a face that says something. */
export const LipSync = operation<
  { readonly lipSync: Started },
  {
    readonly input: {
      readonly generator: string;
      readonly image?: MediaInput | undefined;
      readonly audio?: MediaInput | undefined;
      readonly text?: string | undefined;
      readonly voiceId?: string | undefined;
      readonly prompt?: string | undefined;
      readonly aspectRatio?: string | undefined;
      readonly resolution?: string | undefined;
    };
  }
>(/* GraphQL */ `
  mutation LipSync($input: LipSyncInput!, $idempotencyKey: String, $callbackUrl: String) {
    lipSync(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      id
    }
  }
`);

/** Starts learning a person from pictures. */
export const CreateCharacter = operation<
  { readonly createCharacter: Started },
  { readonly input: { readonly name: string; readonly images: readonly MediaInput[] } }
>(/* GraphQL */ `
  mutation CreateCharacter($input: CharacterInput!, $idempotencyKey: String, $callbackUrl: String) {
    createCharacter(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      id
    }
  }
`);

/** Starts making pictures of a character. */
export const GenerateCharacterImage = operation<
  { readonly generateCharacterImage: Started },
  {
    readonly input: {
      readonly characterId?: string | undefined;
      readonly model?: string | undefined;
      readonly prompt: string;
      readonly aspectRatio?: string | undefined;
      readonly resolution?: string | undefined;
      readonly count?: number | undefined;
      readonly seed?: number | undefined;
    };
  }
>(/* GraphQL */ `
  mutation GenerateCharacterImage(
    $input: CharacterImageInput!
    $idempotencyKey: String
    $callbackUrl: String
  ) {
    generateCharacterImage(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      id
    }
  }
`);

/** Starts looking for somebody in a picture. */
export const DetectPerson = operation<
  { readonly detectPerson: Started },
  {
    readonly image: MediaInput;
  }
>(/* GraphQL */ `
  mutation DetectPerson($image: MediaInput!, $idempotencyKey: String, $callbackUrl: String) {
    detectPerson(image: $image, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      id
    }
  }
`);

/** Starts a video of somebody who says what is heard. */
export const GenerateHumanVideo = operation<
  { readonly generateHumanVideo: Started },
  {
    readonly input: {
      readonly image: MediaInput;
      readonly audio: MediaInput;
      readonly prompt?: string | undefined;
      readonly resolution?: string | undefined;
    };
  }
>(/* GraphQL */ `
  mutation GenerateHumanVideo($input: HumanVideoInput!, $idempotencyKey: String, $callbackUrl: String) {
    generateHumanVideo(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      id
    }
  }
`);

/** Starts handing a video to the cloud of avatars. */
export const UploadAvatarSource = operation<
  { readonly uploadAvatarSource: Started },
  { readonly source: MediaInput }
>(/* GraphQL */ `
  mutation UploadAvatarSource($source: MediaInput!, $idempotencyKey: String, $callbackUrl: String) {
    uploadAvatarSource(source: $source, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      id
    }
  }
`);

/** Starts making an avatar. */
export const CreateAvatar = operation<
  { readonly createAvatar: Started },
  { readonly input: { readonly videoId: string; readonly name?: string | undefined } }
>(/* GraphQL */ `
  mutation CreateAvatar($input: AvatarInput!, $idempotencyKey: String, $callbackUrl: String) {
    createAvatar(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      id
    }
  }
`);

/** Starts a video of an avatar that speaks. */
export const GenerateAvatarVideo = operation<
  { readonly generateAvatarVideo: Started },
  {
    readonly input: {
      readonly digitalId: string;
      readonly audio?: MediaInput | undefined;
      readonly text?: string | undefined;
      readonly voiceId?: string | undefined;
      readonly resolution?: string | undefined;
    };
  }
>(/* GraphQL */ `
  mutation GenerateAvatarVideo($input: AvatarVideoInput!, $idempotencyKey: String, $callbackUrl: String) {
    generateAvatarVideo(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      id
    }
  }
`);
