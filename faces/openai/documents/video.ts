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

/** What a video was asked for, files included. */
export const FaceVideoInput = graphql(`
  query FaceVideoInput($id: ID!) {
    task(id: $id) {
      input {
        model
        options
        files {
          input
          url
          media {
            id
          }
        }
      }
    }
  }
`);

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
