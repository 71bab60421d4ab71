import { graphql } from '../graphql.ts';

/** The GraphQL documents that start work with people in it, and videos between two frames. None of them is waited for. */

/** Starts a video from one picture to another. */
export const GenerateFrameVideo = graphql(`
  mutation GenerateFrameVideo($input: VideoInput!, $idempotencyKey: String, $callbackUrl: String) {
    generateFrameVideo(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      id
      manageToken
    }
  }
`);

/** Starts a video of a face that says something. */
export const LipSync = graphql(`
  mutation LipSync($input: LipSyncInput!, $idempotencyKey: String, $callbackUrl: String) {
    lipSync(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      id
      manageToken
    }
  }
`);

/** Starts learning a person from pictures. */
export const CreateCharacter = graphql(`
  mutation CreateCharacter($input: CharacterInput!, $idempotencyKey: String, $callbackUrl: String) {
    createCharacter(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      id
      manageToken
    }
  }
`);

/** Starts making pictures of a character. */
export const GenerateCharacterImage = graphql(`
  mutation GenerateCharacterImage(
    $input: CharacterImageInput!
    $idempotencyKey: String
    $callbackUrl: String
  ) {
    generateCharacterImage(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      id
      manageToken
    }
  }
`);

/** Starts looking for somebody in a picture. */
export const DetectPerson = graphql(`
  mutation DetectPerson($image: MediaInput!, $idempotencyKey: String, $callbackUrl: String) {
    detectPerson(image: $image, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      id
      manageToken
    }
  }
`);

/** Starts a video of somebody who says what is heard. */
export const GenerateHumanVideo = graphql(`
  mutation GenerateHumanVideo($input: HumanVideoInput!, $idempotencyKey: String, $callbackUrl: String) {
    generateHumanVideo(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      id
      manageToken
    }
  }
`);

/** Starts handing a video to the cloud of avatars. */
export const UploadAvatarSource = graphql(`
  mutation UploadAvatarSource($source: MediaInput!, $idempotencyKey: String, $callbackUrl: String) {
    uploadAvatarSource(source: $source, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      id
      manageToken
    }
  }
`);

/** Starts making an avatar. */
export const CreateAvatar = graphql(`
  mutation CreateAvatar($input: AvatarInput!, $idempotencyKey: String, $callbackUrl: String) {
    createAvatar(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      id
      manageToken
    }
  }
`);

/** Starts a video of an avatar that speaks. */
export const GenerateAvatarVideo = graphql(`
  mutation GenerateAvatarVideo($input: AvatarVideoInput!, $idempotencyKey: String, $callbackUrl: String) {
    generateAvatarVideo(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
      id
      manageToken
    }
  }
`);
