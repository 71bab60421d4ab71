import { type DataOf, graphql } from '../../../rest-compat/documents/graphql.ts';

const fileFields = graphql(`
  fragment FaceFile on Media {
    id
    name
    url
    bytes
    contentType
    createdAt
  }
`);

/** A stored file. */
export type FaceFile = DataOf<typeof fileFields>;

/** Stores a file until somebody removes it. */
export const FaceUpload = graphql(
  `
    mutation FaceUpload($file: Upload!) {
      uploadFile(file: $file, temporary: false) {
        sha256
        manageToken
        ...FaceFile
      }
    }
  `,
  [fileFields],
);

/** A file by its id. */
export const FaceFileById = graphql(
  `
    query FaceFileById($id: ID!) {
      media(id: $id) {
        ...FaceFile
      }
    }
  `,
  [fileFields],
);

/** The caller's own files, newest first. */
export const FaceFiles = graphql(
  `
    query FaceFiles($first: Int!, $after: String) {
      medias(first: $first, after: $after) {
        edges {
          node {
            ...FaceFile
          }
        }
        pageInfo {
          hasNextPage
        }
      }
    }
  `,
  [fileFields],
);
