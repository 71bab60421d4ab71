import { OWNER, RUN } from './owner.ts';

/**
 * The environment of a program that gets nothing else of the test's own: where Node keeps what it has compiled
 * (vitest.config.ts names the folder; it then starts a quarter faster), and the process and run with which it ends (owner.ts).
 */
export function inherited(): Readonly<Record<string, string>> {
  const kept = ['NODE_COMPILE_CACHE', OWNER, RUN] as const;
  return Object.fromEntries(kept.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}
