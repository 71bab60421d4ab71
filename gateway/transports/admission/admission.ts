import {
  type DocumentNode,
  type FragmentDefinitionNode,
  getOperationAST,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';

import type { Caller } from '../../../platform/access/caller.ts';
import type { Documents } from '../../../platform/graphql/operations/documents.ts';
import { codedError } from '../../../platform/graphql/operations/errors.ts';
import { listRootFields } from '../../../platform/graphql/operations/inspect-document.ts';
import { countFieldPoints, countTextPoints } from '../../limits/document-shape.ts';
import type { QueryLimits } from '../../limits/query-limits.ts';
import type { RateLimiter, RateVerdict } from '../../limits/rate-limit.ts';
import type { OperationRequest } from './read-operation.ts';

/** Admission control of every operation on every transport: limits, syntax, validation, and the caller's rate. */
export type Admission = ReturnType<typeof createAdmission>;

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
  /** Where admitted documents are kept. */
  readonly documents: Pick<Documents, 'known' | 'add'>;
  readonly limits: QueryLimits;
  readonly rateLimiter?: RateLimiter | undefined;
  /** Documents that callers without a credential may send in any case (default: none). */
  readonly trustedDocuments?: ReadonlySet<string> | undefined;
  /** Whether they may send no others (default: no). */
  readonly trustedOnly?: boolean | undefined;
  /** Why nobody may send a text (default: nothing is known against any). */
  readonly findRefusal?: ((query: string) => GraphQLError | null) | undefined;
  /** Most points of one other document without a credential, unless it shares its plan with another (default: no bound). */
  readonly anonymousPoints?: number | undefined;
  /** Root fields of subscriptions that start paid work. */
  readonly paidSubscriptions?: readonly string[] | undefined;
  /** Root fields of mutations that start no work. */
  readonly writes?: readonly string[] | undefined;
  /** Root fields of mutations that take or give credentials. */
  readonly signIns?: readonly string[] | undefined;
}

/** Makes the admission that all transports share. */
export function createAdmission(options: AdmissionOptions) {
  const { documents, rateLimiter, trustedOnly = false, findRefusal } = options;
  const isTrusted = createTrust(options);
  const operations = new WeakMap<DocumentNode, Map<string | undefined, Operation>>();

  const check = createCheck(options);

  function findOperation(
    document: DocumentNode,
    operationName: string | undefined,
  ): Operation | GraphQLError {
    const ofDocument = operations.get(document) ?? new Map<string | undefined, Operation>();
    const known = ofDocument.get(operationName);
    if (known !== undefined) return known;
    const ast = getOperationAST(document, operationName);
    if (!ast) return unknownOperation(operationName);
    const operation = operationFacts(document, ast, options);
    operations.set(document, ofDocument.set(operationName, operation));
    return operation;
  }

  return {
    /**
     * Checks a document and counts it against the caller: a read, before it is checked, points of the class `plan` when it is new, and
     * per root field of a mutation a start, a write or a sign-in; a subscription that spends is a start. `isCounted`: the read was
     * counted before.
     */
    async admit(
      { query, operationName }: OperationRequest,
      caller: Caller,
      isCounted: boolean = false,
    ): Promise<Admitted | Refusal> {
      let rate = isCounted ? undefined : await rateLimiter?.take(caller, 'read');
      if (rate?.allowed === false) return tooMany(rate);
      if (trustedOnly && !isTrusted(query, caller)) {
        return { errors: [notTrusted()], status: 400 };
      }
      const refused = findRefusal?.(query) ?? null;
      if (refused !== null) return { errors: [refused], status: 400 };
      const document = documents.known(query) ?? (await check(query, caller));
      if ('errors' in document) return document;
      const operation = findOperation(document, operationName);
      if (operation instanceof GraphQLError) return { errors: [operation], status: 400 };
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

/** Makes the check of a document that is not known. It is counted before it is parsed, and before it is validated. */
function createCheck(
  options: AdmissionOptions,
): (query: string, caller: Caller) => Promise<DocumentNode | Refusal> {
  const { documents, limits, rateLimiter, anonymousPoints = Infinity } = options;
  const isTrusted = createTrust(options);
  const findExcess = (points: number, caller: Caller, query: string): Refusal | null => {
    if (points <= anonymousPoints || isTrusted(query, caller)) return null;
    return { errors: [tooLarge(anonymousPoints, points)], status: 400 };
  };

  return async (query, caller) => {
    const counted = async (points: number): Promise<Refusal | null> => {
      const rate = points === 0 ? undefined : await rateLimiter?.take(caller, 'plan', points);
      return rate?.allowed === false ? tooMany(rate, 'points of new documents') : null;
    };
    const ofLength = countTextPoints(query);
    const beforeParsing = (await counted(ofLength)) ?? findExcess(ofLength, caller, query);
    if (beforeParsing !== null) return beforeParsing;
    const document = limits.parse(query);
    if (document instanceof GraphQLError) return { errors: [document], status: 400 };
    const shared = documents.known(query, document);
    if (shared !== undefined) return shared;
    const points = countFieldPoints(document);
    const beforeValidating = (await counted(points)) ?? findExcess(ofLength + points, caller, query);
    if (beforeValidating !== null) return beforeValidating;
    const errors = documents.add(query, document, limits.validationRules);
    return errors.length === 0 ? document : { errors, status: 400 };
  };
}

function operationFacts(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  { paidSubscriptions = [], writes = [], signIns = [] }: AdmissionOptions,
): Operation {
  const fields = listRootFields(operation, (name) => fragmentNamed(document, name));
  const isMutation = operation.operation === OperationTypeNode.MUTATION;
  const count = (names: readonly string[]) =>
    isMutation ? fields.filter((name) => names.includes(name)).length : 0;
  const written = count(writes);
  const signedIn = count(signIns);
  const starts = isMutation
    ? fields.length - written - signedIn
    : Number(fields.some((name) => paidSubscriptions.includes(name)));
  return { kind: operation.operation, document, fields, starts, writes: written, signIns: signedIn };
}

/** Whether a caller may send a document of any size: with a credential any, without one those that are trusted. */
function createTrust({ trustedDocuments }: AdmissionOptions): (query: string, caller: Caller) => boolean {
  return (query, caller) => caller.kind !== 'anonymous' || trustedDocuments?.has(query) === true;
}

function tooLarge(allowed: number, found: number): GraphQLError {
  return codedError(
    'QUERY_REFUSED',
    `without a credential a new document has at most ${allowed} points, this one has ${found}: send Authorization: Bearer, or ask for fewer fields`,
    { limit: 'points', allowed, found },
  );
}

function notTrusted(): GraphQLError {
  return codedError(
    'QUERY_REFUSED',
    'without a credential only the documents of TRUSTED_DOCUMENTS are taken: send Authorization: Bearer, or one of them',
    { limit: 'trusted-documents' },
  );
}

function unknownOperation(operationName: string | undefined): GraphQLError {
  const message =
    operationName === undefined
      ? 'name the operation: send operationName, as the document has none or several'
      : `the document has no operation named ${JSON.stringify(operationName)}`;
  return codedError('OPERATION_RESOLUTION_FAILURE', message);
}

function tooMany(rate: RateVerdict, what = 'requests'): Refusal {
  const { limit, retryAfter } = rate;
  const message = `too many ${what}: ${limit} a minute are allowed, try again in ${retryAfter} s`;
  return { errors: [codedError('RATE_LIMITED', message, { retryAfter })], status: 429, rate };
}

function fragmentNamed({ definitions }: DocumentNode, wanted: string): FragmentDefinitionNode | undefined {
  return definitions.find((one): one is FragmentDefinitionNode => {
    return one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === wanted;
  });
}
