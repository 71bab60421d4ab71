import { graphql } from '../graphql.ts';
import { startArguments, startVariables } from './start.ts';

/** The GraphQL documents that start work with people in it, and videos between two frames. None of them is waited for. */

/** Starts a video from one picture to another. */
export const GenerateFrameVideo = graphql(
  `mutation GenerateFrameVideo($input: VideoInput!, ${startVariables}) {
    generateFrameVideo(input: $input, ${startArguments}) { id manageToken }
  }`,
);

/** Starts a video of a face that says something. */
export const LipSync = graphql(`mutation LipSync($input: LipSyncInput!, ${startVariables}) {
    lipSync(input: $input, ${startArguments}) { id manageToken }
  }`);

/** Starts learning a person from pictures. */
export const CreateCharacter = graphql(`mutation CreateCharacter($input: CharacterInput!, ${startVariables}) {
    createCharacter(input: $input, ${startArguments}) { id manageToken }
  }`);

/** Starts making pictures of a character. */
export const GenerateCharacterImage = graphql(
  `mutation GenerateCharacterImage($input: CharacterImageInput!, ${startVariables}) {
    generateCharacterImage(input: $input, ${startArguments}) { id manageToken }
  }`,
);

/** Starts looking for somebody in a picture. */
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
