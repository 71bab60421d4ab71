import { type DataOf, graphql } from '../../rest-compat/documents/graphql.ts';

/** The GraphQL documents of Comfy's API. */

const comfyFile = graphql(`
  fragment ComfyFile on Media {
    id
    name
    url
    contentType
    bytes
    blake3
    createdAt
  }
`);

/** A file as assets and outputs show it. */
export type ComfyFile = DataOf<typeof comfyFile>;

/** Stores a file with its BLAKE3. */
export const ComfyUpload = graphql(
  `
    mutation ComfyUpload($file: Upload!) {
      uploadFile(file: $file, blake3: true) {
        sha256
        manageToken
        ...ComfyFile
      }
    }
  `,
  [comfyFile],
);

/** A file by its id. */
export const ComfyFileById = graphql(
  `
    query ComfyFileById($id: ID!) {
      media(id: $id) {
        ...ComfyFile
        task {
          id
        }
      }
    }
  `,
  [comfyFile],
);

/** The caller's file with these bytes. */
export const ComfyFileByHash = graphql(
  `
    query ComfyFileByHash($blake3: String!) {
      mediaByBlake3(blake3: $blake3) {
        ...ComfyFile
      }
    }
  `,
  [comfyFile],
);

/** All that answers say of a job. */
const comfyTask = graphql(
  `
    fragment ComfyTask on Task {
      id
      kind
      state
      progress
      queuePosition
      lastSeq
      cancelRequestedAt
      createdAt
      startedAt
      endedAt
      traceId
      manageToken
      texts
      error {
        code
        message
        field
      }
      stageInfo {
        code
        text
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
      result {
        __typename
        ... on ComfyResult {
          outputs {
            node
            text
            media {
              ...ComfyFile
            }
          }
        }
      }
      input {
        options
        files {
          input
          url
          media {
            id
            name
            blake3
          }
        }
      }
    }
  `,
  [comfyFile],
);

/** The task behind a job. */
export type ComfyTask = DataOf<typeof comfyTask>;

/** A task by its id. */
export const ComfyTaskById = graphql(
  `
    query ComfyTaskById($id: ID!) {
      task(id: $id) {
        ...ComfyTask
      }
    }
  `,
  [comfyTask],
);

/** Starts running a graph. */
export const ComfyRun = graphql(
  `
    mutation ComfyRun($input: ComfyWorkflowInput!, $idempotencyKey: String, $callbackUrl: String) {
      runComfyWorkflow(input: $input, idempotencyKey: $idempotencyKey, callbackUrl: $callbackUrl) {
        ...ComfyTask
      }
    }
  `,
  [comfyTask],
);
