import { type DataOf, graphql } from '../graphql.ts';

/** The GraphQL documents about tasks of any kind. */

/** All that replies say of a task; the document that uses it declares `$cdn`. */
export const taskFields = graphql(`
  fragment TaskFields on Task {
    id
    kind
    generator
    state
    stage
    progress
    queuePosition
    lastSeq
    text
    notes
    provider
    model
    manageToken
    error {
      code
      message
      retryable
    }
    outputs {
      url(cdn: $cdn)
      contentType
      bytes
      sha256
      width
      height
      duration
    }
    result {
      __typename
      ... on Description {
        prompts
      }
      ... on ClonedVoice {
        voice {
          id
        }
        demo {
          url(cdn: $cdn)
        }
      }
      ... on Analysis {
        model
        provider
        usage {
          inputTokens
          outputTokens
        }
      }
      ... on Character {
        characterId
      }
      ... on AvatarSource {
        videoId
      }
      ... on Avatar {
        digitalId
      }
      ... on PersonDetection {
        hasPerson
        reason
        subjects
      }
    }
  }
`);

/** What every reply about a task is made of. */
export type TaskFields = DataOf<typeof taskFields>;

/** A task by its id; null when there is none that the caller may read. */
export const TaskById = graphql(
  `
    query TaskById($id: ID!, $cdn: Boolean = false) {
      task(id: $id) {
        ...TaskFields
      }
    }
  `,
  [taskFields],
);

/** Asks a task to stop. */
export const CancelTask = graphql(`
  mutation CancelTask($id: ID!) {
    cancelTask(id: $id) {
      id
      state
    }
  }
`);

/** The events of a task, for those who wait for its end. */
export const TaskEvents = graphql(`
  subscription TaskEvents($id: ID!, $afterSeq: Int) {
    taskProgress(id: $id, afterSeq: $afterSeq) {
      seq
      state
      stage
      progress
      stageInfo {
        code
        node {
          nodeId
          classType
          step
          steps
        }
        preview {
          url
          bytes
          contentType
        }
      }
    }
  }
`);
