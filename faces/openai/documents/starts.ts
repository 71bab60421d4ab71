import { graphql, type InputOf } from '../../../rest-compat/documents/graphql.ts';
import { faceTask } from './task.ts';

/** Starts making images. */
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

/** What to make images of. */
export type ImageInput = InputOf<typeof FaceImage>['input'];

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

/** Starts running a ComfyUI graph by its name. */
export const FaceGraph = graphql(
  `
    mutation FaceGraph(
      $input: ComfyWorkflowInput!
      $idempotencyKey: String
      $joinSeconds: Int
      $callbackUrl: String
    ) {
      runComfyWorkflow(
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

/** The graphs that can be run by their names. */
export const FaceGraphs = graphql(`
  query FaceGraphs {
    comfyWorkflows {
      name
      category
      inputs
    }
  }
`);
