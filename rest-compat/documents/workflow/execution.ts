import { operation } from '../../route/route.ts';

/** The GraphQL documents about executions. */

/** Status words of executions. */
export type ExecutionWord = 'PENDING' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED';

/** An execution, as ExecutionAnswer asks for it. */
export interface ExecutionAnswer {
  readonly id: string;
  readonly taskId: string;
  readonly externalId: string | null;
  readonly status: ExecutionWord;
  /** 0 to 100. */
  readonly progress: number;
  readonly createdAt: string;
  readonly endedAt: string | null;
  readonly template: { readonly code: string };
  readonly task: { readonly outputs: readonly { readonly url: string }[] } | null;
}

const executionAnswer = /* GraphQL */ `
  fragment ExecutionAnswer on Execution {
    id
    taskId
    externalId
    status
    progress
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
`;

/** What a task id in a path may mean: an id of ours, or one that its caller chose. */
export interface NamedExecution {
  readonly ours: ExecutionAnswer | null;
  readonly chosen: ExecutionAnswer | null;
}

/** An execution by the id of its task, and by the id that its caller chose. */
export const ExecutionByTask = operation<
  NamedExecution,
  { readonly taskId: string; readonly externalId: string }
>(/* GraphQL */ `
  query ExecutionByTask($taskId: ID!, $externalId: String!) {
    ours: execution(taskId: $taskId) {
      ...ExecutionAnswer
    }
    chosen: execution(externalId: $externalId) {
      ...ExecutionAnswer
    }
  }
  ${executionAnswer}
`);

/** Whether a task of ours has this id. */
export const TaskTaken = operation<
  { readonly execution: { readonly id: string } | null },
  { readonly taskId: string }
>(/* GraphQL */ `
  query TaskTaken($taskId: ID!) {
    execution(taskId: $taskId) {
      id
    }
  }
`);

/** What a start needs to answer. */
export interface StartedExecution {
  readonly id: string;
  readonly taskId: string;
}

/** Runs a template. */
export const ExecuteTemplate = operation<
  { readonly executeTemplate: StartedExecution },
  {
    readonly code: string;
    readonly parameters: object;
    readonly onBehalfOf: string | null;
    readonly externalId: string | null;
  }
>(/* GraphQL */ `
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
export const ExecutionsOfUser = operation<
  {
    readonly executions: {
      readonly totalCount: number;
      readonly edges: readonly {
        readonly node: Pick<ExecutionAnswer, 'id' | 'status' | 'createdAt' | 'template'>;
      }[];
    };
  },
  { readonly userId: string }
>(/* GraphQL */ `
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
