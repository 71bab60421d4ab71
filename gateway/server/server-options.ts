import type { McpFace } from '../../faces/mcp/face.ts';
import type { ReadinessChecks } from '../../platform/http/readiness.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import type { Logger } from '../../platform/process/logger.ts';
import type { Tracer } from '../../platform/tracing/span.ts';
import type { RestHandler } from '../../rest-compat/router.ts';
import type { CredentialResolver } from '../authentication/credentials.ts';
import type { VerifyToken } from '../authentication/jwt.ts';
import type { CellLinks } from '../cells/cell-links.ts';
import type { QueryLimitOptions } from '../limits/query-limits.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import type { PersistedOperations } from '../persisted/persisted-operations.ts';
import type { CorsOrigins } from '../request/cors.ts';
import type { ServedFederation } from '../transports/admission/transport.ts';
import type { HandshakeQueueOptions } from '../transports/websocket/handshake-queue.ts';
import type { DrainOptions } from './http-server.ts';
import type { Handler, StyleAt } from './middleware.ts';
import type { SlowBodyOptions } from './slow-bodies.ts';

/** Who may call, and from where. */
interface CallerOptions {
  readonly resolveCredential: CredentialResolver;
  /** Closes WebSockets without a credential; of a foreign supergraph refuses every operation without one. */
  readonly requiresCredential?: boolean;
  /** Verifies the bearer tokens for subgraphs of that supergraph (default: they do so themselves). */
  readonly verifyToken?: VerifyToken | undefined;
  /** Serves a supergraph that is not Kiln's, whose subgraphs check bearer tokens themselves. */
  readonly isForeign?: boolean;
  readonly trustProxy: readonly string[];
  readonly corsOrigins: CorsOrigins;
  /** Whether the explorer signs in at the sandbox's mini-program platform (default: no). */
  readonly explorerSignsIn?: boolean;
  /** No introspection, no Apollo Sandbox. */
  readonly production: boolean;
  /** Whether callers may ask for the schema (default: not in production). */
  readonly introspection?: boolean | undefined;
  /** Documents that callers without a credential may send to /graphql in any case (default: none). */
  readonly trustedDocuments?: ReadonlySet<string> | undefined;
  /** Whether they may send no others (default: no). */
  readonly trustedOnly?: boolean | undefined;
  /** Operations that callers name by a hash, and which they may send at all (default: any text, no hash). */
  readonly persisted?: PersistedOperations | undefined;
  /** PUBLIC_URL, for its path prefix; null: none. */
  readonly publicUrl: string | null;
}

/** What is counted, and how large and slow requests may be. */
interface LimitOptions {
  /** Absent when there are no rate limits. */
  readonly rateLimiter?: RateLimiter | undefined;
  /** Root fields of subscriptions that start paid work, and count as starts. */
  readonly paidSubscriptions?: readonly string[];
  /** Root fields of mutations that start no work, and count as writes. */
  readonly writes?: readonly string[];
  /** Root fields of mutations that count as sign-ins. */
  readonly signIns?: readonly string[];
  /** Most open connections, and most open sockets and streams, of one address or caller (default 0: no bound). */
  readonly connectionLimit?: number;
  /** The slowest body that is read to its end (default 1 kB/s over 20 s). */
  readonly slowBodies?: SlowBodyOptions;
  /** Largest uploaded file in bytes. */
  readonly uploadMaxBytes: number;
  /** Largest JSON body or WebSocket message of a GraphQL request, in bytes (default 1,000,000). */
  readonly maxBodyBytes?: number;
  /** The same for callers without a credential (default: no other bound). */
  readonly anonymousBodyBytes?: number | undefined;
  /** Most operations in one request (default 1: a list is refused). */
  readonly maxBatch?: number | undefined;
  /** Most points of one new document of theirs (default: no bound). */
  readonly anonymousPoints?: number | undefined;
  /** Limits of documents other than the usual ones. */
  readonly queryLimits?: Omit<QueryLimitOptions, 'introspection'> | undefined;
  /** Requests to /readyz a minute and address (default 600). */
  readonly readyPerMinute?: number | undefined;
}

/** Streams and sockets that are open for long. */
interface StreamLimitOptions {
  /** Milliseconds after which a client that does not read its stream or socket is disconnected (default 30,000). */
  readonly stallMs?: number;
  /** Most bytes that wait for clients that do not read, of HTTP answers and of WebSockets each (default 48,000,000). */
  readonly unreadBytes?: number;
  /** Most open WebSockets, and most open streams, of this process (default 10,000 each). */
  readonly maxSockets?: number;
  /** How many WebSockets are opened at a time (default: 1,000). */
  readonly opening?: HandshakeQueueOptions | undefined;
  /** Milliseconds in which a broken subscription is taken up again, before its client is told (default 30,000). */
  readonly resumeMs?: number;
}

/** What others serve on the same port. */
interface MountedOptions {
  /** Folder of the built console, which need not exist yet; absent: no console. */
  readonly consoleFolder?: string | undefined;
  /** Serves /files/*; `request.url` begins with `/files/`, without the prefix of PUBLIC_URL. */
  readonly files?: Handler | undefined;
  /** Serves /hooks/{provider}: provider webhooks. */
  readonly hooks?: Handler | undefined;
  /** Serves /sandbox and below: the sandbox's pages for browsers. */
  readonly sandbox?: Handler | undefined;
  /** The other cells, to which requests for them are passed on; absent: there is one cell. */
  readonly cells?: CellLinks | undefined;
  /** Serves /mcp, and the metadata of its clients. */
  readonly mcp?: McpFace | undefined;
  /** The documented REST paths. */
  readonly rest?: Handler | undefined;
  /** The same for requests that need nothing of Express. */
  readonly restHandler?: RestHandler | undefined;
  /** Folders whose requests it serves without Express (default /api). */
  readonly restFolders?: readonly string[];
  /** How paths respond to what fails before their handler (default: as the documented ones). */
  readonly styleAt?: StyleAt | undefined;
  /** Whether plain requests take the fast path (default: yes). */
  readonly fastPath?: boolean;
}

/** What operators see. */
interface ObservationOptions {
  readonly logger: Logger;
  /** Of this process (default: none). */
  readonly metrics?: Metrics;
  /** Of this process (default: nothing is traced). */
  readonly tracer?: Tracer;
  /** METRICS_KEY, which opens them at /metrics; null: they are not there. */
  readonly metricsKey?: string | null;
  /** Readiness checks of /readyz, by name. */
  readonly readiness: ReadinessChecks;
  /** What /readyz?verbose reports of providers (default: nothing). */
  readonly providers?: (() => Promise<unknown>) | undefined;
}

/** Dependencies and options of the server. */
export interface GatewayServerOptions
  extends DrainOptions, CallerOptions, LimitOptions, StreamLimitOptions, MountedOptions, ObservationOptions {
  readonly federation: ServedFederation;
}
