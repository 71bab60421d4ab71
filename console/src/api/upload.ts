import { graphqlUrl } from './addresses.ts';
import { Refusal } from './refusal.ts';
import { freshAuthorization } from './session.ts';

/** A stored file that can be an input: an upload, or an output of earlier work. */
export interface StoredFile {
  readonly id: string;
  readonly url: string;
  readonly contentType: string;
  readonly bytes: number;
}

const UPLOAD =
  'mutation Upload($file: Upload!, $listed: Boolean!) { uploadFile(file: $file, listed: $listed) { id url contentType bytes } }';

/** Options of an upload. */
interface UploadOptions {
  readonly signal: AbortSignal;
  /** Share that is sent, 0 to 1. */
  readonly onProgress: (share: number) => void;
  /** Whether the gallery shows it; true unless said otherwise. */
  readonly listed?: boolean;
}

/**
 * Uploads a file by a GraphQL multipart request. XMLHttpRequest, as fetch tells nothing of what is sent. Fails with the
 * server's message, which is empty where an answer has none; as fetch does, with a TypeError where there is no answer.
 */
export async function uploadFile(
  file: File,
  { signal, onProgress, listed = true }: UploadOptions,
): Promise<StoredFile> {
  const header = await freshAuthorization();
  signal.throwIfAborted();
  const form = new FormData();
  form.set('operations', JSON.stringify({ query: UPLOAD, variables: { file: null, listed } }));
  form.set('map', JSON.stringify({ 0: ['variables.file'] }));
  form.set('0', file);
  const request = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      onProgress(total === 0 ? 0 : loaded / total),
    );
    request.addEventListener('abort', () => reject(new DOMException('cancelled', 'AbortError')));
    request.addEventListener('error', () => reject(new TypeError('unreachable')));
    request.addEventListener('load', () => {
      try {
        resolve(readReply(request.response));
      } catch (error) {
        reject(error);
      }
    });
    request.open('POST', graphqlUrl);
    request.responseType = 'json';
    // Other sites can not send this header without asking, so the server takes uploads with it only.
    request.setRequestHeader('Apollo-Require-Preflight', 'true');
    if (header !== null) request.setRequestHeader('authorization', header);
    request.send(form);
  });
}

function readReply(reply: unknown): StoredFile {
  const { data, errors } = (reply ?? {}) as {
    readonly data?: { readonly uploadFile?: StoredFile } | null;
    readonly errors?: readonly {
      readonly message: string;
      readonly extensions?: { readonly code?: string };
    }[];
  };
  if (data?.uploadFile) return data.uploadFile;
  const [refused] = errors ?? [];
  throw new Refusal(refused?.message ?? '', refused?.extensions?.code);
}
