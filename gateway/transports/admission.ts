import { getOperationAST, GraphQLError, specifiedRules, validate } from 'graphql';
import type { DocumentNode, GraphQLSchema, OperationTypeNode } from 'graphql';
import { LRUCache } from 'lru-cache';

import type { Caller } from '../../platform/caller.ts';
import { measureDocument } from '../limits/document-shape.ts';
import type { QueryLimits } from '../limits/query-limits.ts';
import type { RateLimiter, RateVerdict } from '../rate-limit.ts';
import type { OperationRequest } from './read-operation.ts';

/**
 * The step in front of every operation, whichever transport it came by: limits, syntax, validity, and the caller's
 * rate. What passes is known to be harmless to validate and plan again behind.
 */
export interface Admission {
  /** Judges the document alone, from a cache when the same text came before. */
  inspect(request: OperationRequest): Operation | Refusal;
  /** Judges the document and counts it against the caller: mutations as starts (one for each root field), the rest as reads. */
  admit(request: OperationRequest, caller: Caller): Promise<Admitted | Refusal>;
}

export interface Operation {
  readonly kind: `${OperationTypeNode}`;
  readonly document: DocumentNode;
  readonly rootFields: number;
}

export interface Admitted {
  readonly operation: Operation;
  /** Absent when rates are not limited. */
  readonly rate: RateVerdict | undefined;
}

export interface Refusal {
  readonly errors: readonly GraphQLError[];
  /** The HTTP status, for transports that have one. */
  readonly status: 400 | 429;
  readonly rate?: RateVerdict;
}

export interface AdmissionOptions {
  readonly apiSchema: () => GraphQLSchema;
  readonly limits: QueryLimits;
  readonly rateLimiter?: RateLimiter | undefined;
}

type Judgement = Operation | readonly GraphQLError[];

/** Judged documents, kept by their text; their size is counted in characters. */
const CACHE = { max: 2_000, maxSize: 20_000_000 };

export function createAdmission({ apiSchema, limits, rateLimiter }: AdmissionOptions): Admission {
  const known = new LRUCache<string, { readonly value: Judgement }>(CACHE);
  let knownFor: GraphQLSchema | undefined;

  function judge({ query, operationName }: OperationRequest): Judgement {
    const document = limits.parse(query);
    if (document instanceof GraphQLError) return [document];
    const errors = validate(apiSchema(), document, [...specifiedRules, ...limits.validationRules]);
    if (errors.length > 0) return errors.map(withCode);
    const operation = getOperationAST(document, operationName);
    if (!operation) return [unknownOperation(operationName)];
    return { kind: operation.operation, document, rootFields: measureDocument(document).rootFields };
  }

  function inspect(request: OperationRequest): Operation | Refusal {
    if (knownFor !== apiSchema()) {
      known.clear();
      knownFor = apiSchema();
    }
    const key = `${request.operationName ?? ''}\n${request.query}`;
    let found = known.get(key);
    if (found === undefined) {
      found = { value: judge(request) };
      known.set(key, found, { size: key.length });
    }
    const { value } = found;
    return 'kind' in value ? value : { errors: value, status: 400 };
  }

  return {
    inspect,
    async admit(request, caller) {
      const operation = inspect(request);
      if ('errors' in operation) return operation;
      const isStart = operation.kind === 'mutation';
      const rate = await rateLimiter?.take(
        caller,
        isStart ? 'start' : 'read',
        isStart ? operation.rootFields : 1,
      );
      if (rate?.allowed === false) return { errors: [tooMany(rate)], status: 429, rate };
      return { operation, rate };
    },
  };
}

function withCode(error: GraphQLError): GraphQLError {
  if (error.extensions['code'] === undefined) error.extensions['code'] = 'GRAPHQL_VALIDATION_FAILED';
  return error;
}

function unknownOperation(operationName: string | undefined): GraphQLError {
  const message =
    operationName === undefined
      ? 'name the operation: send operationName, as the document has none or several'
      : `the document has no operation named ${JSON.stringify(operationName)}`;
  return new GraphQLError(message, { extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } });
}

function tooMany({ limit, retryAfter }: RateVerdict): GraphQLError {
  return new GraphQLError(`too many requests: ${limit} a minute are allowed, try again in ${retryAfter} s`, {
    extensions: { code: 'RATE_LIMITED', retryAfter },
  });
}
