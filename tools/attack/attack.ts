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
  /** The attackers: without a credential, and another user. */
  readonly attackers: Readonly<Record<string, Headers>>;
  /** A service key that may read, start and manage: it reads what is of others, and changes its own alone. */
  readonly key: Headers;
  /** A service key that may start three things a minute. */
  readonly slowKey: Headers;
  /** What others own, by whose it is: ids by their kind. */
  readonly owned: Readonly<Record<string, Belongings>>;
  /** Addresses of subgraphs that are processes of their own. */
  readonly ports: readonly string[];
  /** A credential that may do everything. */
  readonly admin: Headers;
  readonly close: () => Promise<void>;
}

/** Ids of what somebody owns; a kind that does not exist in a mode is absent. */
export type Belongings = Readonly<Record<string, string>>;

/** Shortens an answer for the report. */
export function told(answer: unknown): string {
  return (typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? 'nothing')).slice(0, 160);
}
