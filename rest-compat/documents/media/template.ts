import type { Json, JsonObject } from '../../../platform/json.ts';
import { operation } from '../../route/route.ts';

/** The GraphQL documents about the catalog of video templates. */

/** A video template, as VideoTemplateAnswer asks for it. */
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

/** Adds a video template. */
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

/** Changes what is named of a video template. */
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

/** Takes a video template out of the catalog. */
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
