import { type DataOf, graphql } from '../../../rest-compat/documents/graphql.ts';

/** The GraphQL documents about tasks. */

/** All that answers of the face say of a task. */
export const faceTask = graphql(`
  fragment FaceTask on Task {
    id
    kind
    generator
    state
    progress
    lastSeq
    createdAt
    endedAt
    text
    model
    manageToken
    error {
      code
      message
      field
    }
    outputs {
      id
      url
      contentType
      bytes
      width
      height
      duration
      thumbnail(width: 1280)
      spritesheet
    }
    input {
      prompt
      model
      options
    }
    cost {
      amount
      currency
      estimated
      units {
        inputTokens
        outputTokens
      }
    }
  }
`);

/** What every answer about a task is made of. */
export type FaceTask = DataOf<typeof faceTask>;

/** A task by its id. */
export const FaceTaskById = graphql(
  `
    query FaceTaskById($id: ID!) {
      task(id: $id) {
        ...FaceTask
      }
    }
  `,
  [faceTask],
);
