import type { RequestContext } from '../platform/graphql/operations/executor.ts';
import type { Route } from './route/route.ts';

/** Asks the old services for what Kiln does not know. Only reads are passed on; nothing starts, writes or moves money. */
export interface Fallback {
  /** The old answer to a read that Kiln has nothing for; null when nobody has. UNAVAILABLE while that can't be known. */
  answer(request: FallbackRequest): Promise<FallbackAnswer | null>;
  /** Kiln's list of a user, with what only the old service has. */
  joined(request: FallbackRequest, body: object): Promise<object>;
}

/** A request that was matched to its route. */
export interface FallbackRequest {
  readonly route: Route;
  readonly pathParams: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Path and query, without the prefix of PUBLIC_URL. */
  readonly target: string;
  readonly authorization: string | undefined;
  readonly context: RequestContext;
}

/** What is sent instead of Kiln's own answer. */
interface FallbackAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** Marks what the fallback asks: an address that leads back to Kiln is not asked over and over again. */
export const ASKED_HEADER = 'x-kiln-fallback';
