import { createHash } from 'node:crypto';

import { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';

import { AppError } from '../../platform/errors.ts';
import { codedError } from '../../platform/graphql/operations/errors.ts';
import type { Logger } from '../../platform/process/logger.ts';

/** Operations that callers name by a hash, and which they may send at all. */
export type PersistedOperations = ReturnType<typeof createPersistedOperations>;

export interface PersistedOptions {
  readonly operations: readonly ManifestOperation[];
  /** Of texts that are not among them: `log` and `allow` take them, the former says so in the log; `only` refuses them. */
  readonly mode: 'log' | 'allow' | 'only';
  /** Keeps texts that callers send with their hash (APQ). */
  readonly isAutomatic: boolean;
  readonly logger: Logger;
}

/** Most characters of texts that callers have persisted, the last used first. */
const MAX_KEPT = 32_000_000;
/** Most texts of which is known that the log has them. */
const MAX_LOGGED = 1_000;

/** Makes them. */
export function createPersistedOperations(options: PersistedOptions) {
  const { operations, mode, logger } = options;
  const isAutomatic = options.isAutomatic && mode !== 'only';
  const byId = new Map(operations.map(({ id, body }) => [id, body]));
  const texts = new Set(byId.values());
  const kept = new LRUCache<string, string>({
    maxSize: MAX_KEPT,
    sizeCalculation: (text) => text.length + 64,
  });
  const logged = new LRUCache<string, true>({ max: MAX_LOGGED });

  function findText(hash: string, query: string | undefined): string | GraphQLError {
    const known = byId.get(hash);
    if (known !== undefined) return known;
    if (query === undefined) return (isAutomatic ? kept.get(hash) : undefined) ?? notFound(options);
    if (!isAutomatic) return query;
    if (createHash('sha256').update(query).digest('hex') !== hash)
      return codedError('BAD_REQUEST', 'extensions.persistedQuery.sha256Hash is not the sha256 of the query');
    kept.set(hash, query);
    return query;
  }
  return {
    /** What can be planned before anybody asks. */
    operations,
    /** A request with the text that its hash stands for, without the hash; the same one where it has none; an error where nothing is known of it. */
    expand: (body: unknown): unknown => {
      const asked = askedBy(body);
      if (asked === null) return body;
      const { hash, query, rest } = asked;
      const text = findText(hash, query);
      return text instanceof GraphQLError ? text : { ...rest, query: text };
    },
    /** Why a text may not be sent; null where it may. */
    findRefusal: (query: string): GraphQLError | null => {
      if (mode === 'allow' || texts.has(query)) return null;
      if (mode === 'only') return NOT_IN_LIST;
      if (!logged.has(query))
        logger.info({ query: query.slice(0, 500) }, 'an operation is not in the manifest');
      logged.set(query, true);
      return null;
    },
  };
}

/** The hash of a request, its text if there is one, and the rest of it; null where it names none. */
function askedBy(body: unknown) {
  if (typeof body !== 'object' || body === null || !('extensions' in body)) return null;
  const { extensions, query, ...rest } = body as Readonly<Record<string, unknown>>;
  const { persistedQuery, ...others } = Object(extensions) as Readonly<Record<string, unknown>>;
  const { sha256Hash: hash } = Object(persistedQuery) as Readonly<Record<string, unknown>>;
  if (typeof hash !== 'string') return null;
  const text = typeof query === 'string' && query !== '' ? query : undefined;
  return {
    hash,
    query: text,
    rest: Object.keys(others).length === 0 ? rest : { ...rest, extensions: others },
  };
}

/** In the words by which clients know that they must send the text. */
function notFound({ mode, isAutomatic }: PersistedOptions): GraphQLError {
  if (mode === 'only') return NOT_IN_LIST;
  return isAutomatic
    ? codedError('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound')
    : codedError('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');
}

const NOT_IN_LIST = codedError(
  'PERSISTED_QUERY_NOT_IN_LIST',
  'only the operations of the manifest are taken here: send the text or the id of one of them',
);

interface ManifestOperation {
  readonly id: string;
  readonly body: string;
  readonly name: string | undefined;
}

const manifest = z.object({
  format: z.literal('apollo-persisted-query-manifest').optional(),
  operations: z.array(
    z.object({ id: z.string().min(1), body: z.string().min(1), name: z.string().optional() }),
  ),
});

/** Reads a manifest as Apollo's `generate-persisted-query-manifest` writes it. Throws NOT_CONFIGURED with what is wrong and the remedy. */
export function readManifest(text: string, file: string): readonly ManifestOperation[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw mistake(file, 'is no JSON');
  }
  const { data, error } = manifest.safeParse(value);
  if (data === undefined) {
    const [issue] = error.issues;
    throw mistake(file, `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
  }
  return data.operations.map(({ id, body, name }) => ({ id, body, name }));
}

function mistake(file: string, what: string): AppError {
  return new AppError(
    'NOT_CONFIGURED',
    `persistedOperations.manifest: ${file} ${what}: write { "format": "apollo-persisted-query-manifest", "version": 1, "operations": [{ "id", "name", "type", "body" }] }`,
  );
}
