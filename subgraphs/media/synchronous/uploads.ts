import type { FileUpload } from 'graphql-upload-minimal';

import { type Caller, enforceGenerator } from '../../../platform/access/caller.ts';
import { badInput } from '../../../platform/errors.ts';
import type { Json } from '../../../platform/json.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { FileService, StoredFile } from '../files/files.ts';
import type { ProviderResources } from '../files/provider-resources.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';
import type { UploadRequest } from '../providers/contract/provider.ts';
import type { QuotaCounter } from '../uploads/quotas.ts';
import { storeUpload } from '../uploads/store-upload.ts';
import { bindingsWith, firstAnswer } from './capable-bindings.ts';

/** A file of ours that a provider has a copy of. */
export interface UploadedResource {
  readonly media: StoredFile;
  /** Address within the provider's storage, where it has one. */
  readonly uri: string | null;
  /** The provider's own answer. */
  readonly answer: Json;
}

/** Uploads files to providers' own storage. */
export type Uploads = ReturnType<typeof createUploads>;

interface UploadToProvider {
  readonly generator: string;
  readonly file: Promise<FileUpload>;
  readonly purpose: UploadRequest['purpose'];
  /** Accepted media types, such as `image/*`; those of the purpose when null or absent. */
  readonly only?: readonly string[] | null;
}

export interface UploadsOptions {
  readonly database: MediaDatabase;
  readonly files: FileService;
  readonly resources: ProviderResources;
  readonly registry: GeneratorRegistry;
  /** Most bytes of one upload. */
  readonly uploadMaxBytes: number;
  readonly quotas: QuotaCounter;
}

const TIMEOUT_MS = 5 * 60_000;

/** Which measured types a purpose takes, and their name in refusals. */
const KINDS: Readonly<Record<UploadRequest['purpose'], { readonly type: RegExp; readonly label: string }>> = {
  'voice-sample': { type: /^(audio|video)\//, label: 'a recording' },
  'lip-sync': { type: /^(audio|video|image)\//, label: 'a recording, a video or an image' },
  analysis: { type: /^(audio|video|image)\//, label: 'a recording, a video or an image' },
};

/** Makes the uploads over the generators' bindings. */
export function createUploads(options: UploadsOptions) {
  const { database, files, resources, registry } = options;
  return {
    /**
     * Stores the file as the caller's, uploads it to the provider's own storage, and records its id there. The media id
     * and the uri name it from then on; work at this provider does not send it again while the copy exists. Refuses files
     * of another kind before they are uploaded; what the provider refuses is removed after an hour.
     */
    async upload(
      caller: Caller,
      { generator, file: upload, purpose, only = null }: UploadToProvider,
      signal: AbortSignal,
    ): Promise<UploadedResource> {
      enforceGenerator(caller, generator);
      const bindings = bindingsWith(registry, generator, 'upload');
      const media = await storeUpload(options, caller, upload, { temporary: true, signal });
      checkKind(media, purpose);
      if (only !== null) checkOnly(media, only);
      const file = toInputFile(files, media);
      const { account, uploaded } = await firstAnswer(bindings, async (binding) => ({
        account: binding,
        uploaded: await binding.provider.upload(
          { file, purpose },
          {
            connection: binding.connection,
            signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
          },
        ),
      }));
      await database.transaction().execute((transaction) => files.claim(transaction, [media.id], caller.id));
      await resources.save({ mediaId: media.id, owner: caller.id, account, uploaded });
      return { media, uri: uploaded.uri, answer: uploaded.answer };
    },
  };
}

function checkKind({ contentType }: StoredFile, purpose: UploadRequest['purpose']): void {
  const { type, label } = KINDS[purpose];
  if (!type.test(contentType)) throw badInput('file', `file must be ${label}; this is ${contentType}`);
}

function checkOnly({ contentType }: StoredFile, only: readonly string[]): void {
  const isTaken = only.some((type) =>
    type.endsWith('/*') ? contentType.startsWith(type.slice(0, -1)) : contentType === type,
  );
  if (isTaken) return;
  throw badInput('file', `file: wrong file format, send ${only.join(' or ')}; this is ${contentType}`);
}

function toInputFile(
  files: FileService,
  { id, name, contentType, bytes }: StoredFile,
): UploadRequest['file'] {
  return { name, contentType, bytes, publicUrl: null, uploaded: null, open: () => files.open(id) };
}
