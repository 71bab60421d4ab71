import { graphql } from '../graphql.ts';

/** The GraphQL documents that store the file parts of a form, and remove them. */

/** Stores one file. `cdn` asks for the CDN's address where one is configured. */
export const UploadFile = graphql(`
  mutation UploadFile($file: Upload!, $temporary: Boolean!, $cdn: Boolean!) {
    uploadFile(file: $file, temporary: $temporary) {
      id
      url(cdn: $cdn)
      contentType
      bytes
      sha256
      manageToken
    }
  }
`);

const resourceFields = graphql(`
  fragment ResourceFields on ProviderResource {
    id
    uri
    extra
    media {
      url
      contentType
      bytes
      sha256
      manageToken
    }
  }
`);

/** Stores one file and sends it on to the storage of a generator's provider. */
export const UploadToProvider = graphql(
  `
    mutation UploadToProvider($generator: String!, $file: Upload!) {
      upload: uploadToProvider(generator: $generator, file: $file) {
        ...ResourceFields
      }
    }
  `,
  [resourceFields],
);

/** The same for a sample of a voice that is to be cloned. */
export const UploadVoiceSample = graphql(
  `
    mutation UploadVoiceSample($generator: String!, $file: Upload!) {
      upload: uploadVoiceSample(generator: $generator, file: $file) {
        ...ResourceFields
      }
    }
  `,
  [resourceFields],
);

/** The same for a face or a voice of a lip-sync. */
export const UploadLipSyncResource = graphql(
  `
    mutation UploadLipSyncResource($generator: String!, $only: [String!], $file: Upload!) {
      upload: uploadLipSyncResource(generator: $generator, only: $only, file: $file) {
        ...ResourceFields
      }
    }
  `,
  [resourceFields],
);

/** Removes a file. */
export const RemoveFile = graphql(`
  mutation RemoveFile($id: ID!, $manageToken: String) {
    deleteMedia(id: $id, manageToken: $manageToken) {
      id
    }
  }
`);
