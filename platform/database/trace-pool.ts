import type { Pool, PoolClient } from 'pg';

import { inSpan } from '../tracing/span.ts';

type Query = (...words: readonly unknown[]) => unknown;

/** Makes a span of each statement of traced work, named as the statement is. */
export function tracePool(pool: Pool): void {
  traceQueries(pool);
  pool.on('connect', traceQueries);
}

function traceQueries(owner: Pool | PoolClient): void {
  const query = owner.query.bind(owner) as Query;
  const traced: Query = (...words) => {
    // The pool sends its own statements on with a callback: those have their span already.
    if (typeof words.at(-1) === 'function') return query(...words);
    return inSpan(nameOf(words[0]), { kind: 'client', attributes: ATTRIBUTES }, () => query(...words));
  };
  owner.query = traced as typeof owner.query;
}

const ATTRIBUTES = { 'db.system.name': 'postgresql' };

/** Ours begin with their name; of others the first word is enough. */
function nameOf(statement: unknown): string {
  const text = typeof statement === 'string' ? statement : (statement as { readonly text?: string }).text;
  const [, name, verb] = /^\s*(?:\/\*\s*(?:prepared:\s*)?([\w.-]+)\s*\*\/|(\w+))/.exec(text ?? '') ?? [];
  return `sql ${name ?? verb?.toLowerCase() ?? 'statement'}`;
}
