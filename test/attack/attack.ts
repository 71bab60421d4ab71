/** What is tried against a running Kiln: each attempt says what was asked, what came back, and whether it got through. */

export const modes = ['open', 'compat', 'required', 'production', 'split'] as const;

/** How a Kiln runs; production runs with REST_AUTH=required, split in processes of its own with compat. */
export type Mode = (typeof modes)[number];

export interface Attempt {
  readonly what: string;
  readonly answer: string;
  /** Whether the attacker got what is not theirs. */
  readonly succeeded: boolean;
}

export interface AttackClass {
  /** As docs/policy.md names it. */
  readonly name: string;
  readonly modes: readonly Mode[];
  /** Part of `npm test`. */
  readonly isQuick: boolean;
  readonly run: (world: World) => Promise<readonly Attempt[]>;
}

type Headers = Readonly<Record<string, string>>;

/** A running Kiln, and what an attacker has and knows. */
export interface World {
  readonly mode: Mode;
  readonly url: string;
  /** The attackers: without a credential, and a user (in production a key without a scope for it). */
  readonly attackers: Readonly<Record<string, Headers>>;
  /** Ids of what somebody else owns, by their kind; empty in production. */
  readonly ids: Readonly<Record<string, string>>;
  /** Addresses of subgraphs that are processes of their own. */
  readonly ports: readonly string[];
  /** A credential that may do everything. */
  readonly admin: Headers;
  readonly close: () => Promise<void>;
}

/** Shortens an answer for the report. */
export function told(answer: unknown): string {
  return (typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? 'nothing')).slice(0, 160);
}
