import {
  type DocumentNode,
  type FragmentDefinitionNode,
  getOperationAST,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  OperationTypeNode,
  specifiedRules,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';

import type { Caller } from '../../../platform/access/caller.ts';
import { codedError } from '../../../platform/graphql/operations/errors.ts';
import { rootFieldsOf } from '../../../platform/graphql/operations/root-fields.ts';
import { measureDocument } from '../../limits/document-shape.ts';
import type { QueryLimits } from '../../limits/query-limits.ts';
import type { RateLimiter, RateVerdict } from '../../limits/rate-limit.ts';
import type { OperationRequest } from './read-operation.ts';

/** Admission control of every operation on every transport: limits, syntax, validation, and the caller's rate. */
export interface Admission {
  /**
   * Checks a document and counts it against the caller: a read, before it is checked, and per root field of a mutation a
   * start, a write or a sign-in; a subscription that spends is a start. `isCounted`: the read was counted before.
   */
  admit(request: OperationRequest, caller: Caller, isCounted?: boolean): Promise<Admitted | Refusal>;
}

interface Operation {
  readonly kind: `${OperationTypeNode}`;
  readonly document: DocumentNode;
  /** Its root fields; a bound on them is among the limits. */
  readonly fields: readonly string[];
  /** How many starts it counts as. */
  readonly starts: number;
  /** How many writes. */
  readonly writes: number;
  /** How many sign-ins. */
  readonly signIns: number;
}

/** An operation that may run. */
export interface Admitted {
  readonly operation: Operation;
  /** Absent when rates are not limited, or the read was counted before. */
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
  /** Root fields of subscriptions that start paid work. */
  readonly paidSubscriptions?: readonly string[] | undefined;
  /** Root fields of mutations that start no work. */
  readonly writes?: readonly string[] | undefined;
  /** Root fields of mutations that take or give credentials. */
  readonly signIns?: readonly string[] | undefined;
}

/** Cache of admitted documents by their text; sizes are in characters. */
const CACHE = { max: 2_000, maxSize: 20_000_000 };
const MAX_ERRORS = 20;

/** Makes the admission that all transports share. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { apiSchema, limits, rateLimiter, paidSubscriptions = [], writes = [], signIns = [] } = options;
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
    const fields = rootFieldsOf(operation, (name) => fragmentNamed(document, name));
    const isMutation = operation.operation === OperationTypeNode.MUTATION;
    const count = (names: readonly string[]) =>
      isMutation ? fields.filter((name) => names.includes(name)).length : 0;
    const written = count(writes);
    const signedIn = count(signIns);
    const starts = isMutation
      ? Math.max(0, measureDocument(document).rootFields - written - signedIn)
      : Number(fields.some((name) => paidSubscriptions.includes(name)));
    return { kind: operation.operation, document, fields, starts, writes: written, signIns: signedIn };
  }

  return {
    async admit(request, caller, isCounted = false) {
      const { query, operationName } = request;
      // Most have no name; their text is hashed once for all caches. No text begins with NUL.
      const key = operationName === undefined ? query : `\0${operationName}\n${query}`;
      let operation = find(key);
      let rate = isCounted ? undefined : await rateLimiter?.take(caller, 'read');
      if (rate?.allowed === false) return tooMany(rate);
      if (operation === undefined) {
        const judged = judge(request);
        if (!('kind' in judged)) return { errors: judged, status: 400 };
        operation = judged;
        known.set(key, operation, { size: key.length });
      }
      for (const [rateClass, points] of [
        ['sign-in', operation.signIns],
        ['write', operation.writes],
        ['start', operation.starts],
      ] as const) {
        if (points === 0) continue;
        rate = await rateLimiter?.take(caller, rateClass, points);
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

function fragmentNamed({ definitions }: DocumentNode, wanted: string): FragmentDefinitionNode | undefined {
  return definitions.find((one): one is FragmentDefinitionNode => {
    return one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === wanted;
  });
}
