/** Recorded traffic: one request and its answer. */

/** Header values by lower-case name; repeated ones are joined by a comma. */
export type Headers = Readonly<Record<string, string>>;

/** A body as it was recorded: text, bytes in base64, or left out because it was too large. */
export type RecordedBody =
  | { readonly text: string }
  | { readonly base64: string }
  | { readonly omittedBytes: number }
  | null;

/** One request and its answer: a line of a recording. */
export interface Exchange {
  /** ISO 8601. */
  readonly at: string;
  readonly request: {
    readonly method: string;
    /** Path and query, without the origin. */
    readonly target: string;
    readonly headers: Headers;
    readonly body: RecordedBody;
    /** Names of a form's fields whose body was not kept. */
    readonly formNames?: readonly string[] | undefined;
  };
  readonly response: {
    /** 0 when there was no answer. */
    readonly status: number;
    readonly headers: Headers;
    readonly body: RecordedBody;
  };
}

/** Largest bodies that are kept, in bytes: a form with an image can be sent again, a file need not be compared. */
export const MAX_KEPT_BYTES = { request: 8 * 1024 * 1024, response: 1024 * 1024 } as const;

const TEXT_TYPE = /^(text\/|application\/(json|x-www-form-urlencoded|[\w.+-]+\+json|xml))/i;

/** How these bytes are recorded. */
export function recordedBody(bytes: Buffer, contentType: string | undefined): RecordedBody {
  if (bytes.length === 0) return null;
  return TEXT_TYPE.test(contentType ?? '')
    ? { text: bytes.toString('utf8') }
    : { base64: bytes.toString('base64') };
}

/** The bytes of a recorded body; null when they were left out. */
export function decodeBytes(body: RecordedBody): Buffer | null {
  if (body === null) return Buffer.alloc(0);
  if ('text' in body) return Buffer.from(body.text);
  return 'base64' in body ? Buffer.from(body.base64, 'base64') : null;
}

/** The JSON of a recorded body; undefined when it is none. */
export function parseJsonBody(body: RecordedBody): unknown {
  try {
    return JSON.parse(decodeBytes(body)?.toString('utf8') ?? '');
  } catch {
    return undefined;
  }
}

/** The names of a form's texts and files. */
interface FormNames {
  readonly names: readonly string[];
}

/** Reads a recorded form; null when the body is none, or was not kept. */
export async function readForm(body: RecordedBody, contentType: string): Promise<FormNames | null> {
  const bytes = decodeBytes(body);
  if (bytes === null || !/^(multipart\/form-data|application\/x-www-form-urlencoded)/i.test(contentType)) {
    return null;
  }
  try {
    const form = await new Response(new Uint8Array(bytes), {
      headers: { 'content-type': contentType },
    }).formData();
    return { names: [...new Set(form.keys())] };
  } catch {
    // A malformed form is the client's; it is replayed as it is.
    return null;
  }
}
