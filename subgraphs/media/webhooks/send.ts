import { Webhook } from 'standardwebhooks';

import { HttpFailure, type HttpClient, type HttpDownload } from '../../../platform/http/http-client.ts';

/** One attempt over the wire: signed by Standard Webhooks, bounded in time and size, redirects refused. */
export type Sender = ReturnType<typeof createSender>;

/** A message to one address. */
export interface OutgoingMessage {
  /** The webhook-id. */
  readonly id: string;
  readonly url: string;
  readonly body: string;
  /** Sign it in place of the sender's own: `whsec_` and base64. */
  readonly secrets?: readonly string[] | undefined;
}

/** The outcome of an attempt. The status decides; the body is ignored. */
export type Verdict =
  | { readonly kind: 'delivered'; readonly status: number }
  | {
      readonly kind: 'failed';
      /** Null when no answer came. */
      readonly status: number | null;
      /** Without secrets, and without any part of the answer's body. */
      readonly error: string;
      /** The receiver wants no more (410). */
      readonly gone: boolean;
    };

export interface SenderOptions {
  readonly http: HttpClient;
  /** `whsec_` and base64. */
  readonly secret: string;
  /** Longest time of one attempt, answer included. */
  readonly timeoutMs: number;
}

/** Most of an answer that is read, so that its connection can be used again. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** Makes the sender of a process. Throws when the secret is malformed. */
export function createSender({ http, secret, timeoutMs }: SenderOptions) {
  const own = [new Webhook(secret)];
  return {
    /** Throws only when `signal` was aborted: then the outcome is unknown. */
    async send({ id, url, body, secrets }: OutgoingMessage, signal: AbortSignal): Promise<Verdict> {
      const signers = secrets?.map((one) => new Webhook(one)) ?? own;
      const late = AbortSignal.timeout(timeoutMs);
      try {
        const answer = await http.download({
          method: 'POST',
          url,
          headers: createHeaders(signers, id, body),
          body,
          timeoutMs,
          maxBytes: MAX_ANSWER_BYTES,
          retry: 'never',
          signal: AbortSignal.any([signal, late]),
        });
        await discard(answer);
        return judge(answer);
      } catch (error) {
        if (signal.aborted || !(error instanceof HttpFailure)) throw error;
        const reason = late.aborted ? `no answer within ${timeoutMs / 1000} s` : error.message;
        return { kind: 'failed', status: null, error: reason, gone: false };
      }
    },
  };
}

/** The timestamp is that of the attempt: receivers refuse old ones. */
function createHeaders(signers: readonly Webhook[], id: string, body: string): Record<string, string> {
  const now = new Date();
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': signers.map((signer) => signer.sign(id, now, body)).join(' '),
  };
}

/** Drains the body within the limits of size and time. The status has decided already. */
async function discard({ body }: HttpDownload): Promise<void> {
  try {
    for await (const chunk of body) void chunk;
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
  }
}

function judge({ status, headers }: HttpDownload): Verdict {
  if (status >= 200 && status < 300) return { kind: 'delivered', status };
  return { kind: 'failed', status, error: formatReason(status, headers['location']), gone: status === 410 };
}

function formatReason(status: number, location: string | undefined): string {
  if (status === 410) return 'the receiver answered 410: it wants no more';
  if (status < 300 || status >= 400) return `the receiver answered ${status}`;
  const origin = URL.parse(location ?? '')?.origin;
  const target = origin === undefined || origin === 'null' ? '' : ` to ${origin}`;
  return `the receiver answered ${status}, a redirect${target}: redirects are not followed`;
}
