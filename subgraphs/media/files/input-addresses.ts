import type { ObjectStore } from '../../../platform/object-store/object-store.ts';
import { isPublicHttps } from '../domain/public-https.ts';
import type { FileAccess, FileService, StoredFile } from './files.ts';

/** Where the upstream of a binding can fetch a file of ours; null when it gets bytes instead. */
export type InputAddress = (
  file: StoredFile,
  binding: {
    readonly provider: { readonly fetchesInputs?: boolean };
    readonly sandbox: boolean;
  },
) => Promise<string | null>;

export interface InputAddressOptions {
  readonly files: Pick<FileService & FileAccess, 'formatUrl' | 'locate'>;
  readonly store: Pick<ObjectStore, 'address'>;
  /** PUBLIC_URL without a trailing slash, with which the files' own addresses begin. */
  readonly publicUrl: string;
  /** The same for processes of this machine. */
  readonly localUrl: string;
}

/** Seconds that an address of the object store is valid: an upstream may fetch it only when the work starts there. */
const STORE_SECONDS = 6 * 3_600;

/**
 * A real upstream gets the file's own address when that is public https. One that takes only addresses gets the object
 * store's otherwise, when that is public, and its stand-in one of this machine.
 */
export function createInputAddress(options: InputAddressOptions): InputAddress {
  const { files, publicUrl, localUrl } = options;
  return async (file, { provider, sandbox }) => {
    const fetchesInputs = provider.fetchesInputs === true;
    const own = files.formatUrl(file);
    if (sandbox) return fetchesInputs ? `${localUrl}${own.slice(publicUrl.length)}` : null;
    if (isPublicHttps(own)) return own;
    return fetchesInputs ? storeAddress(options, file) : null;
  };
}

async function storeAddress({ files, store }: InputAddressOptions, file: StoredFile): Promise<string | null> {
  const found = await files.locate(file.id);
  if (found === null) return null;
  const { contentType } = file;
  const address = await store.address(found.objectKey, { expiresIn: STORE_SECONDS, contentType });
  return address !== null && isPublicHttps(address) ? address : null;
}
