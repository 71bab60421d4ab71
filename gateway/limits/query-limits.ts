import {
  type DocumentNode,
  GraphQLError,
  NoSchemaIntrospectionCustomRule,
  parse,
  type ValidationRule,
} from 'graphql';

import { MAX_NESTING, nestingOfText } from '../../platform/graphql/operations/nesting.ts';
import { createCostRule } from './cost-rule.ts';
import { type DocumentShape, measureDocument } from './document-shape.ts';
import { type LimitName, refusal } from './refusal.ts';

/** Limits of a GraphQL document, on every transport. */
const LIMITS = {
  /** Characters of the query text. */
  maxQueryLength: 100_000,
  /** Lexical tokens; the standard introspection query has about 250. */
  maxTokens: 4_000,
  /** Operations in one document. */
  maxOperations: 20,
  /** Depth of nested fields, without introspection. */
  maxDepth: 15,
  maxAliases: 30,
  /** Root fields of one operation. */
  maxRootFields: 20,
  /** All fields, fragments unfolded. */
  maxFields: 2_000,
  /** Depth of nested introspection lists. */
  maxIntrospectionDepth: 3,
  /** See cost-rule.ts. */
  maxCost: 50_000,
};

/** Whether introspection is allowed, and limits other than the defaults. */
export type QueryLimitOptions = Partial<typeof LIMITS> & { readonly introspection: boolean };

/** The limits that every transport applies. */
export interface QueryLimits {
  /**
   * Parses a query text and checks it before validation (whose time may grow with the square of the text): the
   * document, or its refusal. An unparsable text is GRAPHQL_PARSE_FAILED.
   */
  parse(query: string): DocumentNode | GraphQLError;
  /** The limits that need the schema, for validation. */
  readonly validationRules: readonly ValidationRule[];
}

/** Makes the document limits; one instance serves all transports. */
export function createQueryLimits({ introspection, ...changed }: QueryLimitOptions): QueryLimits {
  const limits = { ...LIMITS, ...changed };
  return {
    validationRules: [
      createCostRule(limits.maxCost),
      ...(introspection ? [] : [NoSchemaIntrospectionCustomRule]),
    ],
    parse(query) {
      if (query.length > limits.maxQueryLength) {
        return refusal('query-length', limits.maxQueryLength, query.length);
      }
      const nesting = nestingOfText(query);
      if (nesting > MAX_NESTING) return refusal('nesting', MAX_NESTING, nesting);
      const document = parseBounded(query, limits.maxTokens);
      return document instanceof GraphQLError ? document : (findExcess(document, limits) ?? document);
    },
  };
}

function parseBounded(query: string, maxTokens: number): DocumentNode | GraphQLError {
  try {
    return parse(query, { maxTokens });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    if (error.message.endsWith('tokens. Parsing aborted.')) {
      return refusal('tokens', maxTokens, `more than ${maxTokens}`);
    }
    return new GraphQLError(error.message, {
      source: error.source ?? null,
      positions: error.positions ?? null,
      extensions: { code: 'GRAPHQL_PARSE_FAILED' },
    });
  }
}

function findExcess(document: DocumentNode, limits: typeof LIMITS): GraphQLError | undefined {
  const shape = measureDocument(document);
  const allowed: readonly [LimitName, keyof DocumentShape, number][] = [
    ['operations', 'operations', limits.maxOperations],
    ['depth', 'depth', limits.maxDepth],
    ['aliases', 'aliases', limits.maxAliases],
    ['root-fields', 'rootFields', limits.maxRootFields],
    ['fields', 'fields', limits.maxFields],
    ['introspection-depth', 'introspectionDepth', limits.maxIntrospectionDepth],
  ];
  const exceeded = allowed.find(([, measure, most]) => shape[measure] > most);
  return exceeded === undefined ? undefined : refusal(exceeded[0], exceeded[2], shape[exceeded[1]]);
}
