import type { Json, JsonObject } from '../../platform/json.ts';
import type { TaskAnswer } from '../replies/task.ts';
import { operation } from '../route.ts';

/** The GraphQL documents of the media routes. test/documented-operations.test.ts validates each against the schema. */

const taskAnswer = /* GraphQL */ `
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

/** A file among the inputs: one of ours, or an address. */
export type MediaInput = { readonly fileId: string } | { readonly url: string };

/** Starts the recipe of a video template. */
export const CreateTask = operation<
  { readonly createTask: Pick<TaskAnswer, 'id'> },
  {
    readonly taskType: string;
    readonly prompt: string;
    readonly image: MediaInput | null;
    readonly aspectRatio: string;
  }
>(/* GraphQL */ `
  mutation CreateTask(
    $taskType: String!
    $prompt: String!
    $image: MediaInput
    $aspectRatio: String
    $idempotencyKey: String
  ) {
    createTask(
      taskType: $taskType
      prompt: $prompt
      image: $image
      aspectRatio: $aspectRatio
      idempotencyKey: $idempotencyKey
    ) {
      id
    }
  }
`);

/** Starts making images; answers the whole task, so that a synchronous operation may wait for it. */
export const GenerateImage = operation<
  { readonly generateImage: TaskAnswer },
  {
    readonly input: {
      readonly generator: string;
      readonly prompt: string;
      readonly images?: readonly MediaInput[] | undefined;
      readonly aspectRatio?: string | undefined;
      readonly speedMode?: string | undefined;
    };
  }
>(/* GraphQL */ `
  mutation GenerateImage($input: ImageInput!, $idempotencyKey: String, $cdn: Boolean = false) {
    generateImage(input: $input, idempotencyKey: $idempotencyKey) {
      ...TaskAnswer
    }
  }
  ${taskAnswer}
`);

export interface VideoTemplateAnswer {
  readonly id: string;
  readonly taskType: string;
  readonly prompt: string | null;
  readonly coverUrl: string | null;
  readonly videoUrl: string | null;
  readonly aspectRatio: string | null;
  readonly presetPrompts: readonly string[];
  readonly fields: Json;
}

/** What a write sends; absent members stay as they are on update. */
export interface VideoTemplateInput {
  readonly taskType?: string;
  readonly prompt?: string;
  readonly coverUrl?: string;
  readonly videoUrl?: string;
  readonly aspectRatio?: string;
  readonly presetPrompts?: readonly string[];
  readonly fields?: JsonObject;
}

const videoTemplateAnswer = /* GraphQL */ `
  fragment VideoTemplateAnswer on VideoTemplate {
    id
    taskType
    prompt
    coverUrl
    videoUrl
    aspectRatio
    presetPrompts
    fields
  }
`;

/** One page of the catalog. */
export const VideoTemplates = operation<
  { readonly videoTemplates: { readonly items: readonly VideoTemplateAnswer[]; readonly total: number } },
  {
    readonly taskType: string | null;
    readonly category: string | null;
    readonly page: number;
    readonly pageSize: number;
  }
>(/* GraphQL */ `
  query VideoTemplates($taskType: String, $category: String, $page: Int!, $pageSize: Int!) {
    videoTemplates(taskType: $taskType, category: $category, page: $page, pageSize: $pageSize) {
      items {
        ...VideoTemplateAnswer
      }
      total
    }
  }
  ${videoTemplateAnswer}
`);

/** Whether a task type is free. */
export const TaskTypeAvailable = operation<
  { readonly taskTypeAvailable: boolean },
  { readonly taskType: string }
>(/* GraphQL */ `
  query TaskTypeAvailable($taskType: String!) {
    taskTypeAvailable(taskType: $taskType)
  }
`);

export const CreateVideoTemplate = operation<
  { readonly createVideoTemplate: VideoTemplateAnswer },
  { readonly input: VideoTemplateInput }
>(/* GraphQL */ `
  mutation CreateVideoTemplate($input: VideoTemplateInput!) {
    createVideoTemplate(input: $input) {
      ...VideoTemplateAnswer
    }
  }
  ${videoTemplateAnswer}
`);

export const UpdateVideoTemplate = operation<
  { readonly updateVideoTemplate: VideoTemplateAnswer },
  { readonly id: string; readonly input: VideoTemplateInput }
>(/* GraphQL */ `
  mutation UpdateVideoTemplate($id: ID!, $input: VideoTemplateInput!) {
    updateVideoTemplate(id: $id, input: $input) {
      ...VideoTemplateAnswer
    }
  }
  ${videoTemplateAnswer}
`);

export const DeleteVideoTemplate = operation<
  { readonly deleteVideoTemplate: { readonly id: string } },
  { readonly id: string }
>(/* GraphQL */ `
  mutation DeleteVideoTemplate($id: ID!) {
    deleteVideoTemplate(id: $id) {
      id
    }
  }
`);

/** Health of the media service. */
export const Health = operation<
  {
    readonly health: {
      readonly service: string;
      readonly version: string;
      readonly time: string;
      readonly checks: Json;
    };
  },
  object
>(/* GraphQL */ `
  query Health {
    health {
      service
      version
      time
      checks
    }
  }
`);
