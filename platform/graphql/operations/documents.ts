import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  parse,
  specifiedRules,
  validate,
  type ValidationRule,
} from 'graphql';
import { LRUCache } from 'lru-cache';

import { codedError, withExtensions } from './errors.ts';
import { MAX_NESTING, nestingOfText } from './nesting.ts';

/** Parsed and validated query texts, cached. */
export interface Documents {
  /** The document of a query text, or its errors. Never throws. */
  prepare(query: string): PreparedDocument;
}

/** A parsed and validated document, or its errors. */
export type PreparedDocument =
  | { readonly document: DocumentNode; readonly errors?: undefined }
  | { readonly document?: undefined; readonly errors: readonly GraphQLError[] };

export interface DocumentsOptions {
  /** Read when a text is first checked. */
  readonly schema: GraphQLSchema;
  /** Validation rules besides GraphQL's own (depth, aliases, cost). */
  readonly rules?: readonly ValidationRule[];
  /** Longest document in tokens; parsing stops there (default 10,000). */
  readonly maxTokens?: number;
  /** Most documents in the cache, least recently used first out (default 1,000). */
  readonly maxDocuments?: number;
}

/** Most characters of all cached query texts. */
const MAX_CACHED_CHARACTERS = 8 * 1024 * 1024;
const MAX_ERRORS = 20;

/** Makes a cache of valid documents over one schema. Refused texts are not cached: they would evict valid ones. */
export function createDocuments(options: DocumentsOptions): Documents {
  const { rules = [], maxTokens = 10_000, maxDocuments = 1_000 } = options;
  const documents = new LRUCache<string, PreparedDocument>({
    max: maxDocuments,
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: (_document, query) => query.length + 1,
  });
  return {
    prepare(query) {
      const cached = documents.get(query);
      if (cached !== undefined) return cached;
      const prepared = parseChecked(query, maxTokens);
      if (prepared.errors !== undefined) return prepared;
      const errors = problemsOf(prepared.document, { schema: options.schema, rules });
      if (errors.length > 0) return { errors: errors.map(validationError) };
      documents.set(query, prepared);
      return prepared;
    },
  };
}

function parseChecked(query: string, maxTokens: number): PreparedDocument {
  if (nestingOfText(query) > MAX_NESTING) {
    return { errors: [codedError('QUERY_REFUSED', `the document nests deeper than ${MAX_NESTING}`)] };
  }
  try {
    return { document: parse(query, { maxTokens }) };
  } catch (thrown) {
    if (!(thrown instanceof GraphQLError)) throw thrown;
    const code = thrown.message.includes('tokens. Parsing aborted')
      ? 'QUERY_REFUSED'
      : 'GRAPHQL_PARSE_FAILED';
    return { errors: [withExtensions(thrown, thrown.message, { code })] };
  }
}

// Our limits first: they are cheap, and GraphQL's own rules can be slow on a hostile document.
function problemsOf(
  document: DocumentNode,
  { schema, rules }: { schema: GraphQLSchema; rules: readonly ValidationRule[] },
): readonly GraphQLError[] {
  const refused = rules.length === 0 ? [] : validate(schema, document, rules, { maxErrors: MAX_ERRORS });
  if (refused.length > 0) return refused;
  try {
    return validate(schema, document, specifiedRules, { maxErrors: MAX_ERRORS });
  } catch (thrown) {
    // graphql-js throws instead of reporting for a variable in @include at a subscription's root.
    if (thrown instanceof GraphQLError) return [thrown];
    throw thrown;
  }
}

// Our rules set their own code (QUERY_REFUSED); GraphQL's have none.
function validationError(error: GraphQLError): GraphQLError {
  if (typeof error.extensions['code'] === 'string') return error;
  return withExtensions(error, error.message, { code: 'GRAPHQL_VALIDATION_FAILED' });
}
