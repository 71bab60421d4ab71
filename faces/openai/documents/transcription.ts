import { graphql } from '../../../rest-compat/documents/graphql.ts';
import { faceTask } from './task.ts';

/** Starts putting a recording into words. */
export const FaceTranscription = graphql(
  `
    mutation FaceTranscription(
      $input: AnalysisInput!
      $idempotencyKey: String
      $joinSeconds: Int
      $callbackUrl: String
    ) {
      analyzeMedia(
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
