import type { IncomingHttpHeaders } from 'node:http';

import { type GraphQLSchema, NoSchemaIntrospectionCustomRule, type ValidationRule } from 'graphql';

import { anonymousCaller, type Caller } from '../../access/caller.ts';
import { newTraceId } from '../../ids.ts';
import type { Logger } from '../../process/logger.ts';
import { CALLER_HEADER, type CallerVerifier, createCallerVerifier } from '../links/caller-assertion.ts';
import { createLocalLink } from '../links/local-link.ts';
import { createDocuments, type PreparedDocument } from '../operations/documents.ts';
import type { Subgraph, SubgraphLink } from '../operations/subgraph.ts';

/** What the HTTP and WebSocket sides of a subgraph server share: who is asking, and whether the document is let in. */
export interface SubgraphEntryPoint {
  readonly name: string;
  readonly schema: GraphQLSchema;
  readonly link: SubgraphLink;
  readonly logger: Logger;
  identify(credentials: Credentials): Promise<IdentifiedCaller>;
  prepare(query: string, isAsserted: boolean): PreparedDocument;
}

export interface SubgraphEntryPointOptions {
  readonly subgraph: Subgraph;
  /** INTERNAL_KEY: what caller assertions must be signed with. */
  readonly internalKey: string;
  readonly logger: Logger;
  /** Names the caller of an end user's own credential; without it such a caller is anonymous. */
  readonly identify?: Identify;
  /** Lets everybody introspect the schema (development); otherwise only Kiln's own processes may. */
  readonly openIntrospection?: boolean;
  /** Rules for documents of whoever is not vouched for by Kiln (depth, aliases, cost). */
  readonly rules?: readonly ValidationRule[];
}

/** Longest document of somebody whom Kiln does not vouch for, in tokens. */
const MAX_DIRECT_TOKENS = 5_000;

/** Makes the entryPoint of one subgraph. */
export function createSubgraphEntryPoint(options: SubgraphEntryPointOptions): SubgraphEntryPoint {
  const { subgraph, internalKey, logger, identify, openIntrospection = false, rules = [] } = options;
  const { name, schema } = subgraph;
  const verify = createCallerVerifier({ key: internalKey, audience: name });
  const trusted = createDocuments({ schema });
  const direct = createDocuments({
    schema,
    rules: openIntrospection ? rules : [...rules, NoSchemaIntrospectionCustomRule],
    maxTokens: MAX_DIRECT_TOKENS,
  });
  return {
    name,
    schema,
    logger,
    link: createLocalLink({ subgraph, logger }),
    identify: (credentials) => identifyCaller(credentials, { verify, identify }),
    prepare: (query, isAsserted) => (isAsserted ? trusted : direct).prepare(query),
  };
}

/** What a request to a subgraph says of its caller. */
export interface Credentials {
  /** The assertion of another process of Kiln, from the header or the payload's extensions. */
  readonly assertion: unknown;
  readonly headers: IncomingHttpHeaders;
  readonly address: string | null;
}

/** Who an end user's own credential names, or null when there is none; throws UNAUTHENTICATED for a wrong one. */
type Identify = (credentials: Credentials, traceId: string) => Promise<Caller | null>;

interface IdentifiedCaller {
  readonly caller: Caller;
  /** Whether another process of Kiln vouches for the caller. */
  readonly isAsserted: boolean;
}

/**
 * Who is asking a subgraph that is served alone: the caller that another process of Kiln asserts; else whoever the
 * end user's own credential names; else anonymous. A wrong credential is an error, never anonymous.
 */
async function identifyCaller(
  credentials: Credentials,
  { verify, identify }: { verify: CallerVerifier; identify: Identify | undefined },
): Promise<IdentifiedCaller> {
  if (typeof credentials.assertion === 'string') {
    return { caller: await verify(credentials.assertion), isAsserted: true };
  }
  const traceId = newTraceId();
  const known = await identify?.(credentials, traceId);
  return { caller: known ?? anonymousCaller(traceId, credentials.address), isAsserted: false };
}

/** The credentials of an HTTP request. */
export function httpCredentials(request: {
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
}): Credentials {
  return {
    assertion: request.headers[CALLER_HEADER],
    headers: request.headers,
    address: request.socket.remoteAddress ?? null,
  };
}
