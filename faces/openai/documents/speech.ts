import { graphql, type InputOf } from '../../../rest-compat/documents/graphql.ts';
import { faceTask } from './task.ts';

/** Starts saying something. */
export const FaceSpeech = graphql(
  `
    mutation FaceSpeech(
      $input: SpeechInput!
      $idempotencyKey: String
      $joinSeconds: Int
      $callbackUrl: String
    ) {
      synthesizeSpeech(
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

/** What to say, and in which voice. */
export type SpeechInput = InputOf<typeof FaceSpeech>['input'];
