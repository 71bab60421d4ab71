import {
  type DocumentNode,
  getOperationAST,
  GraphQLError,
  type GraphQLSchema,
  type OperationTypeNode,
  specifiedRules,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';

import type { Caller } from '../../../platform/access/caller.ts';
import { codedError } from '../../../platform/graphql/operations/errors.ts';
import { measureDocument } from '../../limits/document-shape.ts';
import type { QueryLimits } from '../../limits/query-limits.ts';
import type { RateLimiter, RateVerdict } from '../../limits/rate-limit.ts';
import type { OperationRequest } from './read-operation.ts';

/** Admission control of every operation on every transport: limits, syntax, validation, and the caller's rate. */
export interface Admission {
  /**
   * Checks a document and counts it against the caller: mutations as starts (one per root field), others as reads. An
   * unknown document costs a read before it is checked, because refusing it takes time too.
   */
  admit(request: OperationRequest, caller: Caller): Promise<Admitted | Refusal>;
}

interface Operation {
  readonly kind: `${OperationTypeNode}`;
  readonly document: DocumentNode;
  readonly rootFields: number;
}

/** An operation that may run. */
export interface Admitted {
  readonly operation: Operation;
  /** Absent when rates are not limited. */
  readonly rate: RateVerdict | undefined;
}

/** The refusal of an operation. */
export interface Refusal {
  readonly errors: readonly GraphQLError[];
  /** The HTTP status, for transports that have one. */
  readonly status: 400 | 429;
  readonly rate?: RateVerdict;
}

/** What operations are checked with. */
export interface AdmissionOptions {
  readonly apiSchema: () => GraphQLSchema;
  readonly limits: QueryLimits;
  readonly rateLimiter?: RateLimiter | undefined;
}

/** Cache of admitted documents by their text; sizes are in characters. */
const CACHE = { max: 2_000, maxSize: 20_000_000 };
const MAX_ERRORS = 20;

/** Makes the admission that all transports share. */
export function createAdmission({ apiSchema, limits, rateLimiter }: AdmissionOptions): Admission {
  const known = new LRUCache<string, Operation>(CACHE);
  let knownFor: GraphQLSchema | undefined;

  function find(key: string): Operation | undefined {
    if (knownFor !== apiSchema()) {
      known.clear();
      knownFor = apiSchema();
    }
    return known.get(key);
  }

  function judge({ query, operationName }: OperationRequest): Operation | readonly GraphQLError[] {
    const document = limits.parse(query);
    if (document instanceof GraphQLError) return [document];
    const rules = [...specifiedRules, ...limits.validationRules];
    const errors = validate(apiSchema(), document, rules, { maxErrors: MAX_ERRORS });
    if (errors.length > 0) return errors.map(withCode);
    const operation = getOperationAST(document, operationName);
    if (!operation) return [unknownOperation(operationName)];
    return { kind: operation.operation, document, rootFields: measureDocument(document).rootFields };
  }

  return {
    async admit(request, caller) {
      const key = `${request.operationName ?? ''}\n${request.query}`;
      let operation = find(key);
      let rate: RateVerdict | undefined;
      if (operation?.kind !== 'mutation') {
        rate = await rateLimiter?.take(caller, 'read');
        if (rate?.allowed === false) return tooMany(rate);
      }
      if (operation === undefined) {
        const judged = judge(request);
        if (!('kind' in judged)) return { errors: judged, status: 400 };
        operation = judged;
        known.set(key, operation, { size: key.length });
      }
      if (operation.kind === 'mutation') {
        rate = await rateLimiter?.take(caller, 'start', operation.rootFields);
        if (rate?.allowed === false) return tooMany(rate);
      }
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
  return codedError('OPERATION_RESOLUTION_FAILURE', message);
}

function tooMany(rate: RateVerdict): Refusal {
  const { limit, retryAfter } = rate;
  const message = `too many requests: ${limit} a minute are allowed, try again in ${retryAfter} s`;
  return { errors: [codedError('RATE_LIMITED', message, { retryAfter })], status: 429, rate };
}
