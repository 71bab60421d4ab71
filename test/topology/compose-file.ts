import { readFile } from 'node:fs/promises';

import { parse } from 'yaml';

/** docker-compose.yml as `docker compose` reads it, as far as its own test needs it. */
export interface ComposeService {
  readonly image: string;
  readonly build?: { readonly args?: Readonly<Record<string, string>> };
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
  readonly stop_grace_period?: string;
  readonly networks?: { readonly default: { readonly aliases: readonly string[] } };
}

/** Reads it with these variables. Throws with every variable that must be set, as its `:?` says. */
export async function readComposeFile(
  variables: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, ComposeService>>> {
  const text = await readFile(new URL('../../docker-compose.yml', import.meta.url), 'utf8');
  const missing = new Set<string>();
  const filled = filledIn(parse(text, { merge: true }), (name, rest) => {
    const value = variables[name] ?? '';
    if (value !== '' || rest === undefined) return value;
    if (rest.startsWith(':-')) return rest.slice(2);
    missing.add(rest.slice(2));
    return '';
  }) as { readonly services: Readonly<Record<string, ComposeService>> };
  if (missing.size > 0) throw new Error([...missing].toSorted().join('\n'));
  return filled.services;
}

/** `${NAME}`, `${NAME:-default}` and `${NAME:?complaint}` in every text. */
function filledIn(value: unknown, variable: (name: string, rest: string | undefined) => string): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(/\$\{(\w+)(:[-?][^}]*)?\}/g, (_, name: string, rest?: string) =>
      variable(name, rest),
    );
  }
  if (Array.isArray(value)) return value.map((item) => filledIn(item, variable));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filledIn(item, variable)]));
}
