import {
  type DocumentNode,
  GraphQLError,
  NoSchemaIntrospectionCustomRule,
  parse,
  type ValidationRule,
} from 'graphql';

import { createCostRule } from './cost-rule.ts';
import { type DocumentShape, measureDocument } from './document-shape.ts';
import { type LimitName, refusal } from './refusal.ts';

/** Limits of a GraphQL document, on every transport. All have defaults. */
export interface QueryLimitOptions {
  /** Characters of the query text (default 100,000). */
  readonly maxQueryLength?: number;
  /** Lexical tokens (default 4,000; the standard introspection query has about 250). */
  readonly maxTokens?: number;
  /** Operations in one document (default 20). */
  readonly maxOperations?: number;
  /** Depth of nested fields, without introspection (default 15). */
  readonly maxDepth?: number;
  /** Aliases (default 30). */
  readonly maxAliases?: number;
  /** Root fields of one operation (default 20). */
  readonly maxRootFields?: number;
  /** All fields, fragments unfolded (default 2,000). */
  readonly maxFields?: number;
  /** Depth of nested introspection lists (default 3). */
  readonly maxIntrospectionDepth?: number;
  /** See cost-rule.ts (default 50,000). */
  readonly maxCost?: number;
  /** Whether introspection is allowed. */
  readonly introspection: boolean;
}

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
export function createQueryLimits(options: QueryLimitOptions): QueryLimits {
  const { maxQueryLength = 100_000, maxTokens = 4_000, maxCost = 50_000 } = options;
  return {
    validationRules: [
      createCostRule(maxCost),
      ...(options.introspection ? [] : [NoSchemaIntrospectionCustomRule]),
    ],
    parse(query) {
      if (query.length > maxQueryLength) return refusal('query-length', maxQueryLength, query.length);
      const document = parseBounded(query, maxTokens);
      return document instanceof GraphQLError ? document : (findExcess(document, options) ?? document);
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

function findExcess(document: DocumentNode, options: QueryLimitOptions): GraphQLError | undefined {
  const shape = measureDocument(document);
  const limits: readonly [LimitName, keyof DocumentShape, number][] = [
    ['operations', 'operations', options.maxOperations ?? 20],
    ['depth', 'depth', options.maxDepth ?? 15],
    ['aliases', 'aliases', options.maxAliases ?? 30],
    ['root-fields', 'rootFields', options.maxRootFields ?? 20],
    ['fields', 'fields', options.maxFields ?? 2_000],
    ['introspection-depth', 'introspectionDepth', options.maxIntrospectionDepth ?? 3],
  ];
  const exceeded = limits.find(([, measure, allowed]) => shape[measure] > allowed);
  return exceeded === undefined ? undefined : refusal(exceeded[0], exceeded[2], shape[exceeded[1]]);
}
