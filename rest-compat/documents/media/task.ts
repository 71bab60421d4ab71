import type { TaskAnswer } from '../../replies/task.ts';
import { operation } from '../../route/route.ts';

/** The GraphQL documents about tasks of any kind. `validateRoutes` holds every document against the schema. */

/** What every reply about a task is made of; the document that uses it declares `$cdn`. */
export const taskAnswer = /* GraphQL */ `
  fragment TaskAnswer on Task {
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
`;

/** A task by its id; null when there is none that the caller may read. */
export const TaskById = operation<
  { readonly task: TaskAnswer | null },
  { readonly id: string; readonly cdn: boolean }
>(/* GraphQL */ `
  query TaskById($id: ID!, $cdn: Boolean = false) {
    task(id: $id) {
      ...TaskAnswer
    }
  }
  ${taskAnswer}
`);

/** Asks a task to stop. */
export const CancelTask = operation<
  { readonly cancelTask: Pick<TaskAnswer, 'id' | 'state'> },
  { readonly id: string }
>(/* GraphQL */ `
  mutation CancelTask($id: ID!) {
    cancelTask(id: $id) {
      id
      state
    }
  }
`);
