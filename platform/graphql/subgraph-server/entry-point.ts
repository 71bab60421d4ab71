import type { IncomingHttpHeaders } from 'node:http';

import { type GraphQLSchema, NoSchemaIntrospectionCustomRule, type ValidationRule } from 'graphql';

import { anonymousCaller, type Caller } from '../../access/caller.ts';
import { newTraceId } from '../../ids.ts';
import type { Logger } from '../../process/logger.ts';
import { CALLER_HEADER, type CallerVerifier, createCallerVerifier } from '../links/caller-assertion.ts';
import { createLocalLink } from '../links/local-link.ts';
import { createDocuments, type PreparedDocument } from '../operations/documents.ts';
import type { Subgraph, SubgraphLink } from '../operations/subgraph.ts';

/** What HTTP and WebSocket of a subgraph server share: finding the caller, and checking the document. */
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
  /** Finds the caller of an end user's credential; without it such callers are anonymous. */
  readonly identify?: Identify;
  /** Allows introspection for everybody (development); otherwise for Kiln's own processes only. */
  readonly openIntrospection?: boolean;
  /** Validation rules for callers without an assertion (depth, aliases, cost). */
  readonly rules?: readonly ValidationRule[];
}

/** Longest document of a caller without an assertion, in tokens. */
const MAX_DIRECT_TOKENS = 5_000;

/** Makes the entry point of one subgraph. */
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

/** The credentials of a request to a subgraph. */
export interface Credentials {
  /** The assertion of another process of Kiln, from the header or the payload's extensions. */
  readonly assertion: unknown;
  readonly headers: IncomingHttpHeaders;
  readonly address: string | null;
}

/** Finds the caller of an end user's credential, null when there is none; throws UNAUTHENTICATED for a wrong one. */
type Identify = (credentials: Credentials, traceId: string) => Promise<Caller | null>;

interface IdentifiedCaller {
  readonly caller: Caller;
  /** Whether another process of Kiln has asserted the caller. */
  readonly isAsserted: boolean;
}

/**
 * The caller of a request: asserted by another process of Kiln, else found by the end user's credential, else
 * anonymous. A wrong credential is an error, never anonymous.
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
