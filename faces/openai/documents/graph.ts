import { graphql } from '../../../rest-compat/documents/graphql.ts';
import { faceTask } from './task.ts';

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
