import { HttpFailure, type HttpClient, type HttpResponse } from '../../../../platform/http/http-client.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { BindingPrices } from '../../domain/price.ts';
import type { Binding } from '../../generators/bindings/binding.ts';
import type { Handle, JobCapability, JobStatus, Provider } from '../../providers/contract/provider.ts';
import type { UpstreamStatus } from './upstream.ts';

/** What a wire of the tests can do besides starting and reporting status. */
export interface WireOptions {
  /** Whether a start can be looked up by its reference (default: yes). */
  readonly find?: boolean;
  /** Whether it can cancel (default: yes). */
  readonly cancel?: boolean;
  readonly name?: string;
}

/** A provider that speaks the upstream's wire. */
export function testProvider(http: HttpClient, options: WireOptions = {}): Provider {
  const send = createSender(http);
  const job: JobCapability = {
    pollMs: 20,
    start: async (request, { connection, reference }) => {
      const prompt = request.kind === 'IMAGE' ? request.prompt : 'describe';
      const answer = await send('POST', `${connection.baseUrl}/jobs`, { reference, prompt });
      if (answer.status === 200) return { id: (JSON.parse(answer.body.toString()) as { id: string }).id };
      throw refusal(answer.status, answer.headers['retry-after']);
    },
    status: async (handle, { connection }) => {
      const answer = await send('GET', `${connection.baseUrl}/jobs/${readId(handle)}`);
      if (answer.status !== 200) throw new UpstreamError('LOST', 'no such job');
      return toJobStatus(JSON.parse(answer.body.toString()) as UpstreamStatus, connection.baseUrl);
    },
    ...(options.cancel !== false && {
      cancel: async (handle, { connection }) => {
        await send('POST', `${connection.baseUrl}/jobs/${readId(handle)}/cancel`);
        return 'cancelled' as const;
      },
    }),
    ...(options.find !== false && {
      find: async (reference, { connection }) => {
        const answer = await send('GET', `${connection.baseUrl}/jobs`);
        const all = JSON.parse(answer.body.toString()) as { id: string; reference: string }[];
        const found = all.find((entry) => entry.reference === reference);
        return found === undefined ? ('absent' as const) : { id: found.id };
      },
    }),
  };
  return { name: options.name ?? 'test', jobs: { IMAGE: job, DESCRIPTION: job } };
}

function createSender(http: HttpClient) {
  return async (method: 'GET' | 'POST', url: string, body?: unknown): Promise<HttpResponse> => {
    try {
      return await http.request({
        method,
        url,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        timeoutMs: 10_000,
        maxBytes: 1 << 20,
        trustedOrigins: [new URL(url).origin],
      });
    } catch (cause) {
      const startUnknown = !(cause instanceof HttpFailure) || cause.sent;
      throw new UpstreamError('UNAVAILABLE', 'no answer', { startUnknown, cause });
    }
  };
}

function readId(handle: Handle): string {
  return typeof handle.id === 'string' ? handle.id : '';
}

function refusal(status: number, retryAfter: string | undefined): UpstreamError {
  const code = status === 400 ? 'MODERATION_REFUSED' : 'RATE_LIMITED';
  return new UpstreamError(code, 'refused', {
    retryable: status !== 400,
    ...(retryAfter === undefined ? {} : { retryAfter: Number(retryAfter) }),
  });
}

function toJobStatus(status: UpstreamStatus, baseUrl: string): JobStatus {
  if (status.state === 'failed') {
    return {
      state: 'failed',
      error: new UpstreamError('UNAVAILABLE', 'it broke', { retryable: status.retryable }),
    };
  }
  if (status.state !== 'finished') return status;
  const names = status.files ?? (status.texts ? [] : ['image.png']);
  const files = names.map((name) => ({ url: `${baseUrl}/files/${name}` }));
  return { state: 'finished', outcome: { files, texts: status.texts ?? [] } };
}

/** Everything costs two cents per image. */
export const PRICED: BindingPrices = {
  currency: 'USD',
  of: () => ({ prices: [{ unit: 'picture', amount: 0.02 }] }),
};

export function testBinding(
  id: string,
  provider: Provider,
  baseUrl: string,
  change: Partial<Binding> = {},
): Binding {
  return {
    id,
    name: id.replace('#', ':'),
    generator: id.split('#')[0] ?? id,
    provider,
    connection: {
      baseUrl,
      pathPrefix: '',
      headers: {},
      credentials: {},
      model: null,
      nodes: [],
      resultOrigins: [],
    },
    sandbox: false,
    concurrency: 8,
    maxWaiting: 1_000,
    settings: 'a test',
    retryUnknownStart: false,
    attemptTimeoutSeconds: 60,
    budgetSeconds: 60,
    ...change,
  };
}
