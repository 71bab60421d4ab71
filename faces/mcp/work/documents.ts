import { type DataOf, graphql } from '../../../rest-compat/documents/graphql.ts';

/** The GraphQL documents of the MCP face beside those of rest-compat. */

/** All that answers say of a task. */
const mcpTaskFields = graphql(`
  fragment McpTaskFields on Task {
    id
    kind
    generator
    state
    stage
    progress
    lastSeq
    createdAt
    startedAt
    endedAt
    texts
    notes
    model
    error {
      code
      message
      retryable
    }
    cost {
      amount
      currency
      estimated
    }
    outputs {
      id
      url
      name
      contentType
      bytes
      width
      height
      duration
      thumbnail(width: 320)
    }
    result {
      ... on Description {
        prompts
      }
    }
  }
`);

/** A task as answers tell it. */
export type McpTask = DataOf<typeof mcpTaskFields>;

/** One file that a task has made. */
export type McpOutput = McpTask['outputs'][number];

/** A task by its id. */
export const McpTaskById = graphql(
  `
    query McpTaskById($id: ID!) {
      task(id: $id) {
        ...McpTaskFields
      }
    }
  `,
  [mcpTaskFields],
);

/** Every model that can be named. */
export const McpModels = graphql(`
  query McpModels {
    models {
      id
      model
      isDefault
      name
      category
      generator
      provider
      inputs
      kinds
      needs
      sizes
      aspectRatios
      durations
      maxCount
      maxImages
      sandbox
      optionsSchema
      retiresAt
      prices {
        currency
        prices {
          unit
          amount
          per
          when
        }
      }
    }
  }
`);

/** A model with what it takes. */
export type McpModel = DataOf<typeof McpModels>['models'][number];

/** The named ComfyUI graphs. */
export const McpComfyWorkflows = graphql(`
  query McpComfyWorkflows {
    comfyWorkflows {
      name
      inputs
      category
    }
  }
`);

/** What work would cost. */
export const McpEstimate = graphql(`
  query McpEstimate($input: EstimateInput!) {
    estimateCost(input: $input) {
      amount
      currency
      estimated
    }
  }
`);

const mcpMediaFields = graphql(`
  fragment McpMediaFields on Media {
    id
    url
    name
    contentType
    bytes
    width
    height
    duration
    createdAt
  }
`);

/** The caller's own files, newest first. */
export const McpMedias = graphql(
  `
    query McpMedias($filter: MediaFilter, $first: Int!, $after: String) {
      medias(filter: $filter, first: $first, after: $after) {
        edges {
          cursor
          node {
            ...McpMediaFields
          }
        }
        totalCount
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `,
  [mcpMediaFields],
);

/** One file by its id. */
export const McpMediaById = graphql(
  `
    query McpMediaById($id: ID!) {
      media(id: $id) {
        ...McpMediaFields
        thumbnail(width: 640)
      }
    }
  `,
  [mcpMediaFields],
);
