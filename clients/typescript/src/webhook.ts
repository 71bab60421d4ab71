import { KilnError } from './errors.ts';
import type { Failure, Media, TaskKind, TaskState } from './graph.ts';

/** What Kiln posts when a task has ended: docs/webhooks.md. */
export interface TaskWebhook {
  readonly type: 'task.succeeded' | 'task.failed' | 'task.cancelled';
  /** When it ended. */
  readonly timestamp: string;
  readonly data: {
    readonly id: string;
    readonly kind: TaskKind;
    readonly generator: string;
    readonly state: Exclude<TaskState, 'QUEUED' | 'RUNNING'>;
    readonly outputs: readonly Omit<Media, 'id' | 'name'>[];
    readonly text: string | null;
    readonly error: Omit<Failure, 'field'> | null;
  };
}

/** A webhook as it came. */
export interface ReceivedWebhook {
  /** The body's text as it came: parsed and written again it has another signature. */
  readonly body: string;
  /** Its headers: a Headers, or those of Node's requests. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** WEBHOOK_SECRET, or the secret of the endpoint: `whsec_` and base64. */
  readonly secret: string;
}

/** How far the clocks of both sides may differ, and how long a message may be on its way. */
const TOLERANCE_SECONDS = 300;

/** Checks the signature of a webhook (Standard Webhooks) and answers what it says. Throws BAD_SIGNATURE when it is forged or old. */
export async function verifyWebhook({ body, headers, secret }: ReceivedWebhook): Promise<TaskWebhook> {
  const [id, at, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    readHeader(headers, `webhook-${name}`),
  );
  const age = Math.abs(Date.now() / 1_000 - Number(at || Number.NaN));
  if (!(age <= TOLERANCE_SECONDS)) throw new KilnError('BAD_SIGNATURE', 'no timestamp, or an old one');
  const key = await crypto.subtle.importKey(
    'raw',
    decodeBase64(secret.replace(/^whsec_/, '')),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  );
  const signed = new TextEncoder().encode(`${id}.${at}.${body}`);
  for (const signature of signatures?.split(' ').slice(0, MOST_SIGNATURES) ?? []) {
    const [version, value = ''] = signature.split(',');
    if (version === 'v1' && (await crypto.subtle.verify('HMAC', key, decodeBase64(value), signed))) {
      return JSON.parse(body) as TaskWebhook;
    }
  }
  throw new KilnError('BAD_SIGNATURE', 'no signature by this secret');
}

/** A message has one signature, or two after its secret was replaced. */
const MOST_SIGNATURES = 10;

function readHeader(headers: ReceivedWebhook['headers'], name: string): string | undefined {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : (headers as Record<string, string | string[] | undefined>)[name];
  return (Array.isArray(value) ? value[0] : value) ?? undefined;
}

function decodeBase64(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch (error) {
    throw new KilnError('BAD_SIGNATURE', 'a secret or signature that is no base64', { cause: error });
  }
}
