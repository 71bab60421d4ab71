import type { z } from 'zod';

/** One line of the settings table. */
export interface SettingLine {
  readonly name: string;
  /** As shown in docs/settings.md: a value, or what happens when it is unset. */
  readonly default: string;
  readonly meaning: string;
}

/** One setting: how its text is parsed, its default, its meaning. */
export interface Setting<Value> {
  readonly schema: z.ZodType<Value, string>;
  /** The text parsed when the setting is unset; null when the value is then null. */
  readonly fallback: string | null;
  readonly default: string;
  readonly meaning: string;
  /** Whether it connects Kiln to something real. */
  readonly isReal?: boolean;
}

/** A setting that always has a value; its default is parsed by the same schema. */
export function setting<Value>(
  schema: z.ZodType<Value, string>,
  meaning: string,
  standard: string,
): Setting<Value> {
  return { schema, fallback: standard, default: standard, meaning };
}

/** A setting that is null when unset; `unset` describes what happens then. */
export function optional<Value>(
  schema: z.ZodType<Value, string>,
  meaning: string,
  unset = 'none',
): Setting<Value | null> {
  return { schema, fallback: null, default: unset, meaning };
}

/** An optional setting that connects Kiln to something real: REST_AUTH must be set with it. */
export function real<Value>(
  schema: z.ZodType<Value, string>,
  meaning: string,
  unset = 'sandbox in development, absent in production',
): Setting<Value | null> {
  return { ...optional(schema, meaning, unset), isReal: true };
}

/** The values of a table of settings, by name. */
export type ValuesOf<Table> = {
  [Name in keyof Table]: Table[Name] extends Setting<infer Value> ? Value : never;
};

/** Reports one problem: the setting at fault, and the remedy. */
export type Report = (name: string, message: string) => void;

/**
 * Reads every setting of a table; empty counts as unset. A setting with a problem is reported and takes its default, so
 * that later checks still find what else is wrong. Values are never repeated: some are secrets.
 */
export function readSettings<Table extends Record<string, Setting<unknown>>>(
  table: Table,
  environment: Readonly<Record<string, string | undefined>>,
  report: Report,
): ValuesOf<Table> {
  const values: Record<string, unknown> = {};
  for (const [name, { schema, fallback }] of Object.entries(table)) {
    const text = environment[name]?.trim() || fallback;
    const parsed = text === null ? null : schema.safeParse(text);
    if (parsed?.success === false) report(name, parsed.error.issues.map(({ message }) => message).join('; '));
    values[name] = parsed?.success === true ? parsed.data : readFallback(schema, fallback);
  }
  return values as ValuesOf<Table>;
}

function readFallback(schema: z.ZodType<unknown, string>, fallback: string | null): unknown {
  return fallback === null ? null : schema.parse(fallback);
}
