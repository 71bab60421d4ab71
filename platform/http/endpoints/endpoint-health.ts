import type { LookupFunction } from 'node:net';

import { Agent, request } from 'undici';

import type { Logger } from '../../process/logger.ts';

/** One process behind a service's URL. */
export interface Endpoint {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Leads connections to its address, where its name has several. */
  readonly lookup: LookupFunction | undefined;
  /** Fires when it no longer answers: what waits for it there may be asked of another one. */
  lost(): AbortSignal;
}

/** Makes the health of a service's endpoints. Each change is one line in the log. */
export function createHealth(options: { readonly logger: Logger; readonly timeoutMs: number }) {
  const { logger, timeoutMs } = options;
  const ill = new Set<Endpoint>();
  const silent = new WeakSet<Endpoint>();
  const lost = new WeakMap<Endpoint, AbortController>();

  function eject(endpoint: Endpoint, reason: string): void {
    if (ill.has(endpoint)) return;
    ill.add(endpoint);
    logger.warn({ endpoint: endpoint.origin, reason }, 'a process gets no requests until it is ready');
  }
  function readmit(endpoint: Endpoint): void {
    if (ill.delete(endpoint)) logger.info({ endpoint: endpoint.origin }, 'a process gets requests again');
  }
  /** The second time in a row what waits for an answer there waits in vain. */
  function miss(endpoint: Endpoint): void {
    const isSecond = silent.has(endpoint);
    silent.add(endpoint);
    eject(endpoint, 'no answer');
    if (!isSecond) return;
    lost.get(endpoint)?.abort();
    lost.delete(endpoint);
  }

  return {
    isWell: (endpoint: Endpoint) => !ill.has(endpoint),
    /** Fires when it stops answering. */
    lost(endpoint: Endpoint): AbortSignal {
      const known = lost.get(endpoint) ?? new AbortController();
      lost.set(endpoint, known);
      return known.signal;
    },
    /** Asks it for /readyz. Never throws. */
    async ask(endpoint: Endpoint): Promise<void> {
      const status = await readiness(endpoint, timeoutMs);
      if (status === null) return miss(endpoint);
      silent.delete(endpoint);
      if (status === 503) eject(endpoint, 'not ready');
      else readmit(endpoint);
    },
    succeeded(endpoint: Endpoint): void {
      silent.delete(endpoint);
      readmit(endpoint);
    },
    /** Takes it out until it answers that it is ready. */
    eject,
    forget: (endpoint: Endpoint) => void ill.delete(endpoint),
  };
}

/** The status of its /readyz, over a connection of its own; null without an answer in time. */
async function readiness({ origin, lookup }: Endpoint, timeoutMs: number): Promise<number | null> {
  const agent = new Agent({ connect: { timeout: timeoutMs, ...(lookup && { lookup }) } });
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const { statusCode, body } = await request(`${origin}/readyz`, { dispatcher: agent, signal });
    await body.dump();
    return statusCode;
  } catch {
    return null;
  } finally {
    void agent.destroy();
  }
}
