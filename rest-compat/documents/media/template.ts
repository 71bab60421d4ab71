import { type DataOf, type InputOf, graphql } from '../graphql.ts';

/** The GraphQL documents about the catalog of video templates. */

const videoTemplateFields = graphql(`
  fragment VideoTemplateFields on VideoTemplate {
    id
    taskType
    prompt
    coverUrl
    videoUrl
    aspectRatio
    presetPrompts
    fields
  }
`);

/** A video template, as replies report it. */
export type VideoTemplateFields = DataOf<typeof videoTemplateFields>;

/** One page of the catalog. */
export const VideoTemplates = graphql(
  `
    query VideoTemplates($taskType: String, $category: String, $page: Int!, $pageSize: Int!) {
      videoTemplates(taskType: $taskType, category: $category, page: $page, pageSize: $pageSize) {
        items {
          ...VideoTemplateFields
        }
        total
      }
    }
  `,
  [videoTemplateFields],
);

/** Whether a task type is free. */
export const TaskTypeAvailable = graphql(`
  query TaskTypeAvailable($taskType: String!) {
    taskTypeAvailable(taskType: $taskType)
  }
`);

/** Adds a video template. */
export const CreateVideoTemplate = graphql(
  `
    mutation CreateVideoTemplate($input: VideoTemplateInput!) {
      createVideoTemplate(input: $input) {
        ...VideoTemplateFields
      }
    }
  `,
  [videoTemplateFields],
);

/** Changes what is named of a video template. */
export const UpdateVideoTemplate = graphql(
  `
    mutation UpdateVideoTemplate($id: ID!, $input: VideoTemplateInput!) {
      updateVideoTemplate(id: $id, input: $input) {
        ...VideoTemplateFields
      }
    }
  `,
  [videoTemplateFields],
);

/** What a write sends; absent members stay as they are on update. */
export type VideoTemplateInput = InputOf<typeof UpdateVideoTemplate>['input'];

/** Takes a video template out of the catalog. */
export const DeleteVideoTemplate = graphql(`
  mutation DeleteVideoTemplate($id: ID!) {
    deleteVideoTemplate(id: $id) {
      id
    }
  }
`);
