import { Pool } from 'undici';

import type { Endpoint } from './endpoint-health.ts';
import type { Endpoints } from './endpoints.ts';

/** Connection pools to the endpoints of a service, each made when it is first used. */
export type Pools = ReturnType<typeof createPools>;

/** Certificates of a connection, as PEM. */
export interface TlsFiles {
  /** Authorities that are trusted in place of the system's. */
  readonly ca?: string | undefined;
  /** The certificate and key that are shown. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** Milliseconds for a connection where there are others to turn to. */
const CONNECT_TIMEOUT_MS = 2_000;

/** Makes the pools. One whose endpoint is gone ends with its last request. */
export function createPools(
  endpoints: Endpoints,
  {
    connect: given = {},
    ...options
  }: Omit<Pool.Options, 'connect'> & { readonly connect?: TlsFiles | undefined },
) {
  const pools = new Map<Endpoint, Pool>();
  endpoints.onGone((endpoint) => {
    void pools.get(endpoint)?.close();
    pools.delete(endpoint);
  });
  return {
    of(endpoint: Endpoint): Pool {
      const { origin, lookup } = endpoint;
      const pool =
        pools.get(endpoint) ??
        new Pool(origin, {
          ...options,
          connect: {
            ...given,
            ...(endpoints.count() > 1 && { timeout: CONNECT_TIMEOUT_MS, ...(lookup && { lookup }) }),
          },
        });
      pools.set(endpoint, pool);
      return pool;
    },
    async close(): Promise<void> {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}

/** How often a request may be sent, and to whom. */
export interface FailoverOptions<Answer> {
  readonly endpoints: Endpoints;
  /** Aborted when the caller has left or its time is over: nothing is tried again. */
  readonly signal: { readonly aborted: boolean };
  /** `always`: it changes nothing, and may be sent again after any failure. `unsent`: only when no connection was made. */
  readonly again: 'always' | 'unsent' | 'never';
  /** Sends it to one endpoint; `lost` fires when that endpoint is lost, where it may then be sent to another. */
  readonly send: (endpoint: Endpoint, lost: AbortSignal | null) => Promise<Answer>;
  /** Whether an answer is none of the service's own, such as that of a proxy before it. */
  readonly isFailure?: (answer: Answer) => boolean;
}

/** Sends a request to one endpoint after the other until one answers. Throws the last failure. */
export async function sendToOne<Answer>(options: FailoverOptions<Answer>): Promise<Answer> {
  const { endpoints, signal, again, send, isFailure = () => false } = options;
  const tried = new Set<Endpoint>();
  let endpoint = endpoints.next();
  for (;;) {
    if (endpoint === undefined) throw new Error('there is nobody to ask');
    tried.add(endpoint);
    const mayLeave = again === 'always' && endpoints.count() > 1;
    const next = () => endpoints.next(tried);
    try {
      const answer = await send(endpoint, mayLeave ? endpoint.lost() : null);
      if (!isFailure(answer)) {
        endpoints.succeeded(endpoint);
        return answer;
      }
      endpoints.failed(endpoint, { unreachable: false });
      const other: Endpoint | undefined = again === 'always' && !signal.aborted ? next() : undefined;
      if (other === undefined) return answer;
      endpoint = other;
    } catch (thrown) {
      const unreachable = isUnreachable(thrown);
      if (!signal.aborted) endpoints.failed(endpoint, { unreachable });
      const mayRepeat = again === 'always' || (again === 'unsent' && unreachable);
      const other: Endpoint | undefined = mayRepeat && !signal.aborted ? next() : undefined;
      if (other === undefined) throw thrown;
      endpoint = other;
    }
  }
}

const NO_CONNECTION = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'NO_CHANNEL',
]);

/** Whether this error, or what caused it, says that no connection was made, so that nothing was sent. */
export function isUnreachable(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  const { code } = thrown as NodeJS.ErrnoException;
  if (code !== undefined && NO_CONNECTION.has(code)) return true;
  if (thrown instanceof AggregateError) return thrown.errors.length > 0 && thrown.errors.every(isUnreachable);
  return isUnreachable(thrown.cause);
}
