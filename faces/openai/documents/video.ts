import { graphql, type InputOf } from '../../../rest-compat/documents/graphql.ts';
import { faceTask } from './task.ts';

/** Starts making a video. */
export const FaceVideo = graphql(
  `
    mutation FaceVideo(
      $input: VideoInput!
      $idempotencyKey: String
      $joinSeconds: Int
      $callbackUrl: String
    ) {
      generateVideo(
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

/** What to make a video of. */
export type VideoInput = InputOf<typeof FaceVideo>['input'];

/** The caller's own videos, newest first. */
export const FaceVideos = graphql(
  `
    query FaceVideos($first: Int!, $after: String) {
      tasks(filter: { kinds: [VIDEO] }, first: $first, after: $after) {
        edges {
          node {
            ...FaceTask
          }
        }
        pageInfo {
          hasNextPage
        }
      }
    }
  `,
  [faceTask],
);

/** Deletes a task that has ended, with its files. */
export const FaceDeleteTask = graphql(`
  mutation FaceDeleteTask($id: ID!, $manageToken: String) {
    deleteTask(id: $id, manageToken: $manageToken)
  }
`);
