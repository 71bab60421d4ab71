import { Agent, request } from 'undici';

import { AppError } from '../../errors.ts';
import type { Endpoint } from '../../http/endpoints/endpoint-health.ts';
import type { Endpoints } from '../../http/endpoints/endpoints.ts';
import { parseJson } from '../../json.ts';

/** Milliseconds for the answers of a subgraph's processes, which bound their own checks. */
export const READINESS_MS = 1_700;

/** What the first process that is ready says that all lack: one that is ready is enough. Throws UNAVAILABLE where none is. */
export async function checkReadiness(name: string, endpoints: Endpoints): Promise<readonly string[]> {
  const signal = AbortSignal.timeout(READINESS_MS);
  const tried = new Set<Endpoint>();
  let reason = 'no address';
  for (let one = endpoints.next(tried); one !== undefined; one = endpoints.next(tried)) {
    tried.add(one);
    const said = await askReadiness(one, signal);
    if (said.isReady) return said.lacks.map((part) => `${name}.${part}`);
    reason = said.lacks.join(', ');
  }
  throw new AppError('UNAVAILABLE', `subgraph ${JSON.stringify(name)} is not ready: ${reason}`);
}

/** Whether a process is ready, and what it lacks: where it is ready, what all lack. */
async function askReadiness(
  { origin, lookup }: Endpoint,
  signal: AbortSignal,
): Promise<{ readonly isReady: boolean; readonly lacks: readonly string[] }> {
  const dispatcher = new Agent(lookup === undefined ? {} : { connect: { lookup } });
  try {
    const { statusCode, body } = await request(new URL('/readyz', origin), { signal, dispatcher });
    const { failing, degraded } = Object(parseJson(await body.text())) as Record<string, unknown>;
    const isReady = statusCode === 200;
    const lacks: unknown = isReady ? (degraded ?? []) : failing;
    return { isReady, lacks: Array.isArray(lacks) ? lacks.map(String) : [`HTTP ${statusCode}`] };
  } catch {
    return { isReady: false, lacks: ['no answer'] };
  } finally {
    await dispatcher.destroy();
  }
}
