import { type Connection, readAnswer, watch } from './connection.ts';
import { type Answer, readData, KilnError } from './errors.ts';
import { type Media, MEDIA_FIELDS } from './graph.ts';

/** Options of an upload. */
export interface UploadOptions {
  /** Its name in lists (default: that of a File). */
  readonly name?: string | undefined;
  /** Called with the share that is sent, 0 to 1. */
  readonly onProgress?: ((share: number) => void) | undefined;
  /** Whether lists show it (default true). */
  readonly listed?: boolean | undefined;
  /** Whether it goes after an hour unless work uses it (default false). */
  readonly temporary?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

const UPLOAD = `mutation($file:Upload!,$temporary:Boolean!,$listed:Boolean!){uploadFile(file:$file,temporary:$temporary,listed:$listed){${MEDIA_FIELDS}}}`;

/** Stores a file, by a GraphQL multipart request. It is sent once: a second time would store it twice. */
export async function upload(connection: Connection, file: Blob, options: UploadOptions): Promise<Media> {
  const { listed = true, temporary = false, signal } = options;
  const name = options.name ?? (file as Partial<File>).name ?? 'file';
  const operations = { query: UPLOAD, variables: { file: null, temporary, listed } };
  // Other sites can not send this header without asking, so the server takes uploads with it only.
  const headers = { ...(await connection.headers()), 'apollo-require-preflight': 'true' };
  signal?.throwIfAborted();
  const work = { connection, file, name, operations: JSON.stringify(operations), headers, options };
  const { XMLHttpRequest } = globalThis as { readonly XMLHttpRequest?: new () => BrowserRequest };
  const answer = XMLHttpRequest ? await sendByBrowser(work, new XMLHttpRequest()) : await sendStream(work);
  return readData(answer)['uploadFile'] as Media;
}

interface Work {
  readonly connection: Connection;
  readonly file: Blob;
  readonly name: string;
  readonly operations: string;
  readonly headers: Record<string, string>;
  readonly options: UploadOptions;
}

/** As much of an XMLHttpRequest as is used, so that the types need no browser. */
interface BrowserRequest {
  readonly upload: {
    addEventListener(
      name: 'progress',
      listener: (event: { readonly loaded: number; readonly total: number }) => void,
    ): void;
  };
  addEventListener(name: 'load' | 'error', listener: () => void): void;
  readonly responseText: string;
  readonly status: number;
  getResponseHeader(name: string): string | null;
  open(method: 'POST', url: string): void;
  setRequestHeader(name: string, value: string): void;
  send(body: FormData): void;
  abort(): void;
}

/** As a stream whose pieces are counted: Node, Deno, Bun and workers. */
async function sendStream({ connection, file, name, operations, headers, options }: Work): Promise<Answer> {
  const boundary = `kiln-${crypto.randomUUID()}`;
  const part = (disposition: string) => `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n`;
  const head =
    `${part('name="operations"')}\r\n${operations}\r\n${part('name="map"')}\r\n{"0":["variables.file"]}\r\n` +
    `${part(`name="0"; filename="${name.replaceAll(/["\r\n]/g, '_')}"`)}content-type: ${file.type || 'application/octet-stream'}\r\n\r\n`;
  const life = watch(connection.timeoutMs, options.signal);
  const counted = new Blob([head, file, `\r\n--${boundary}--\r\n`]).stream().pipeThrough(
    counting((sent) => {
      life.heard();
      options.onProgress?.(Math.min(Math.max((sent - head.length) / (file.size || 1), 0), 1));
    }),
  );
  try {
    const init = {
      headers: { ...headers, 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: counted,
      signal: life.signal,
      // Needed where a stream is sent; types of browsers do not have it.
      duplex: 'half' as const,
    };
    return await readAnswer(await connection.send(init));
  } finally {
    life.end();
  }
}

function counting(
  onBytes: (sent: number) => void,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let sent = 0;
  return new TransformStream({
    transform(chunk, controller) {
      sent += chunk.length;
      onBytes(sent);
      controller.enqueue(chunk);
    },
  });
}

/** By XMLHttpRequest: in browsers fetch tells nothing of what is sent. */
function sendByBrowser(
  { connection, file, name, operations, headers, options }: Work,
  request: BrowserRequest,
): Promise<Answer> {
  const { graphqlUrl, timeoutMs } = connection;
  const form = new FormData();
  form.set('operations', operations);
  form.set('map', '{"0":["variables.file"]}');
  form.set('0', file, name);
  const life = watch(timeoutMs, options.signal);
  return new Promise<Answer>((resolve, reject) => {
    const unreachable = () => reject(new KilnError('UNREACHABLE', `no answer from ${graphqlUrl}`));
    life.signal.addEventListener('abort', () => {
      reject(life.signal.reason as Error);
      request.abort();
    });
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      life.heard();
      options.onProgress?.(total === 0 ? 0 : loaded / total);
    });
    request.addEventListener('error', unreachable);
    request.addEventListener('load', () => {
      // Limits of the gateway say in a header alone when they end.
      const retryAfter = request.getResponseHeader('retry-after');
      const headers = retryAfter === null ? {} : { 'retry-after': retryAfter };
      const answer = new Response(request.responseText, { status: request.status || 502, headers });
      readAnswer(answer).then(resolve, reject);
    });
    request.open('POST', graphqlUrl);
    for (const [header, value] of Object.entries(headers)) request.setRequestHeader(header, value);
    request.send(form);
  }).finally(life.end);
}
