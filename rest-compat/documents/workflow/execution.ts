import { type DataOf, graphql } from '../graphql.ts';

/** The GraphQL documents about executions. */

const executionFields = graphql(`
  fragment ExecutionFields on Execution {
    id
    taskId
    externalId
    status
    progress
    error {
      code
      message
    }
    createdAt
    endedAt
    template {
      code
    }
    task {
      outputs {
        url
      }
    }
  }
`);

/** An execution, as replies report it. */
export type ExecutionFields = DataOf<typeof executionFields>;

/** An execution by the id of its task, and by the id that its caller chose. */
export const ExecutionByTask = graphql(
  `
    query ExecutionByTask($taskId: ID!, $externalId: String!) {
      byTaskId: execution(taskId: $taskId) {
        ...ExecutionFields
      }
      byExternalId: execution(externalId: $externalId) {
        ...ExecutionFields
      }
    }
  `,
  [executionFields],
);

/** What a task id in a path may mean: an id of ours, or one that the caller chose. */
export type NamedExecution = DataOf<typeof ExecutionByTask>;

/** Whether a task of ours has this id. */
export const TaskTaken = graphql(`
  query TaskTaken($taskId: ID!) {
    execution(taskId: $taskId) {
      id
    }
  }
`);

/** Runs a template. */
export const ExecuteTemplate = graphql(`
  mutation ExecuteTemplate(
    $code: ID!
    $parameters: JSON!
    $onBehalfOf: ID
    $externalId: String
    $idempotencyKey: String
  ) {
    executeTemplate(
      code: $code
      parameters: $parameters
      onBehalfOf: $onBehalfOf
      externalId: $externalId
      idempotencyKey: $idempotencyKey
    ) {
      id
      taskId
    }
  }
`);

/** What runs for a user, newest first. */
export const ExecutionsOfUser = graphql(`
  query ExecutionsOfUser($userId: ID!) {
    executions(userId: $userId, first: 1000) {
      totalCount
      edges {
        node {
          id
          status
          createdAt
          template {
            code
          }
        }
      }
    }
  }
`);
