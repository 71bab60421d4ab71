import { graphql, type InputOf } from '../../../rest-compat/documents/graphql.ts';
import { faceTask } from './task.ts';

/** Starts making pictures. */
export const FaceImage = graphql(
  `
    mutation FaceImage(
      $input: ImageInput!
      $idempotencyKey: String
      $joinSeconds: Int
      $callbackUrl: String
    ) {
      generateImage(
        input: $input
        idempotencyKey: $idempotencyKey
        joinSeconds: $joinSeconds
        callbackUrl: $callbackUrl
      ) {
        ...FaceTask
      }
    }
  `,
  [faceTask],
);

/** What to make pictures of. */
export type ImageInput = InputOf<typeof FaceImage>['input'];
