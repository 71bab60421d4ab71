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
import { documentWeight, MAX_NESTING, measureNesting } from './inspect-document.ts';

/** Parsed and validated query texts, cached. */
export interface Documents {
  /** The document of a query text, or its errors. Never throws. */
  prepare(query: string): PreparedDocument;
  /** The document of a text that is in the cache; with the parsed one also that of a text that shares its form. */
  known(query: string, parsed?: DocumentNode): DocumentNode | undefined;
  /** Validates a parsed document, also by rules that are not the cache's own; a valid one is kept. Returns its problems. */
  add(query: string, document: DocumentNode, rules: readonly ValidationRule[]): readonly GraphQLError[];
  /** The documents in the cache that are run, the last used first. */
  all(): Iterable<{ readonly query: string; readonly document: DocumentNode }>;
  /** Estimated bytes of the documents in the cache, their plans and compiled code included. */
  readonly bytes: number;
}

/** What documents share that differ in names and literals alone, so that all of them are validated and planned once. */
export interface SharedForm {
  /** The text of the document that is run. */
  readonly text: string;
  /** Names of root members in that document, and what they are called in the answer. */
  readonly names: ReadonlyMap<string, string>;
  /** Variables of that document that are literals here. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** A parsed and validated document, or its errors. */
export type PreparedDocument =
  | { readonly document: DocumentNode; readonly form?: SharedForm | undefined; readonly errors?: undefined }
  | { readonly document?: undefined; readonly form?: undefined; readonly errors: readonly GraphQLError[] };

export interface DocumentsOptions {
  /** Read when a text is first checked. */
  readonly schema: GraphQLSchema;
  /** Validation rules besides GraphQL's own (depth, aliases, cost). */
  readonly rules?: readonly ValidationRule[];
  /** The form of a document; null where it shares nothing (default: none does). */
  readonly share?: ((query: string, document: DocumentNode) => SharedForm | null) | undefined;
  /** Longest document in tokens; parsing stops there (default 10,000). */
  readonly maxTokens?: number;
  /** Most estimated bytes of all documents in the cache with their plans, least recently used first out (default 64 MB). */
  readonly maxBytes?: number | undefined;
}

const MAX_BYTES = 64_000_000;
const MAX_ERRORS = 20;

/** A document, or the form of one whose document is kept under its own text. */
type Kept = { readonly document: DocumentNode } | { readonly form: SharedForm };

/** Bytes of a name or value of a form. */
const BYTES_PER_SHARED = 300;

/** Makes a cache of valid documents over one schema. Refused texts are not cached: they would evict valid ones. */
export function createDocuments(options: DocumentsOptions): Documents {
  const { rules = [], maxTokens = 10_000, maxBytes = MAX_BYTES, share = () => null } = options;
  const documents = new LRUCache<string, Kept>({
    maxSize: maxBytes,
    sizeCalculation: (kept, query) => query.length + weigh(kept),
  });

  function find(query: string): { readonly document: DocumentNode; readonly form?: SharedForm } | undefined {
    const kept = documents.get(query);
    if (kept === undefined || 'document' in kept) return kept;
    const shared = documents.get(kept.form.text);
    return shared !== undefined && 'document' in shared ? { ...shared, form: kept.form } : undefined;
  }

  /** Keeps a valid document; one that shares its form is parsed as that. */
  function keep(query: string, document: DocumentNode, form: SharedForm | null): void {
    if (form === null) return void documents.set(query, { document });
    if (!documents.has(form.text)) documents.set(form.text, { document: parse(form.text) });
    documents.set(query, { form });
  }

  function add(query: string, document: DocumentNode, more: readonly ValidationRule[]) {
    const problems = findProblems(document, { schema: options.schema, rules: [...more, ...rules] });
    if (problems.length === 0) keep(query, document, share(query, document));
    return problems.map(validationError);
  }

  function findShared(query: string, parsed: DocumentNode): DocumentNode | undefined {
    const form = share(query, parsed);
    if (form === null || !documents.has(form.text)) return undefined;
    keep(query, parsed, form);
    return find(query)?.document;
  }

  return {
    add,
    prepare(query) {
      const cached = find(query);
      if (cached !== undefined) return cached;
      const prepared = parseChecked(query, maxTokens);
      if (prepared.errors !== undefined) return prepared;
      const isNew = findShared(query, prepared.document) === undefined;
      const errors = isNew ? add(query, prepared.document, []) : [];
      return errors.length > 0 ? { errors } : (find(query) ?? prepared);
    },
    known: (query, parsed) => {
      return find(query)?.document ?? (parsed === undefined ? undefined : findShared(query, parsed));
    },
    *all() {
      for (const [query, kept] of documents.entries())
        if ('document' in kept) yield { query, document: kept.document };
    },
    get bytes() {
      return documents.calculatedSize;
    },
  };
}

function weigh(kept: Kept): number {
  if ('document' in kept) return documentWeight(kept.document);
  const { text, names, values } = kept.form;
  return text.length + (names.size + Object.keys(values).length) * BYTES_PER_SHARED;
}

function parseChecked(query: string, maxTokens: number): PreparedDocument {
  if (measureNesting(query) > MAX_NESTING) {
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
function findProblems(
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
