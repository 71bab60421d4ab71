import { readForm } from './multipart.ts';
import type { Wire, WireRequest } from './wire.ts';

/** What the stand-ins were sent last, so that tests see which fields arrive: texts and JSON, no files. */
export interface Received {
  /** Notes a request that brought something. */
  note(wire: Wire, operation: string, request: WireRequest): Promise<void>;
  /** The last ones, oldest first. */
  list(): readonly ReceivedRequest[];
  clear(): void;
}

interface ReceivedRequest {
  readonly wire: string;
  readonly operation: string;
  readonly path: string;
  /** A JSON body, or the texts of a form; long texts are cut. */
  readonly body: unknown;
}

const MOST = 500;
/** Bodies beyond this bring files. */
const MOST_BYTES = 4 << 20;
const LONGEST_TEXT = 500;

/** Makes an empty list, which keeps the last 500. */
export function createReceived(): Received {
  const requests: ReceivedRequest[] = [];
  return {
    async note({ name }, operation, request) {
      if (request.body.length === 0 || request.body.length > MOST_BYTES) return;
      const form = await readForm(request);
      const body = form === null ? parseJson(request.body) : form.fields;
      if (body === undefined) return;
      // Copied: the beginning of a text alone keeps the whole of it in memory.
      requests.push({ wire: name, operation, path: request.path, body: structuredClone(cut(body)) });
      if (requests.length > MOST) requests.shift();
    },
    list: () => requests,
    clear: () => void requests.splice(0),
  };
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined; // neither a form nor JSON: a file
  }
}

function cut(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT)}...` : value;
  if (Array.isArray(value)) return value.map(cut);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cut(inner)]));
}
