/** Costs of single operations by role, out of measured spells of work, and what a mixture of them costs. Pure. */

export const roles = ['gateway', 'media', 'workflow', 'worker', 'PostgreSQL'] as const;
export type Role = (typeof roles)[number];

/** Milliseconds of processor time by role. */
export type Cost = Readonly<Record<Role, number>>;

/** A spell of work: how long it took, what it cost, and how often each operation was done. */
export interface Spell {
  readonly seconds: number;
  readonly cost: Cost;
  readonly counts: Readonly<Record<string, number>>;
}

/** Makes a cost out of a function of the role. */
export function costPerRole(of: (role: Role) => number): Cost {
  return Object.fromEntries(roles.map((role) => [role, of(role)])) as Record<Role, number>;
}

/** The rest of a spell when these operations are taken off it. */
function without(spell: Spell, units: Units): Cost {
  const known = costOfAll(spell, units);
  return costPerRole((role) => spell.cost[role] - known[role]);
}

/** Costs of one operation of each kind; `second` is what a second costs in which nothing is done. */
export type Units = Readonly<Record<string, Cost>>;

/** What a spell is predicted to cost. Operations without a unit cost nothing. */
export function costOfAll({ seconds, counts }: Omit<Spell, 'cost'>, units: Units): Cost {
  const all = { ...counts, second: seconds };
  return costPerRole((role) =>
    Object.entries(all).reduce((sum, [name, count]) => sum + count * (units[name]?.[role] ?? 0), 0),
  );
}

/** What is left of a spell, for each of its operations of this name. A negative rest is noise and counts as nothing. */
export function computeUnit(spell: Spell, name: string, known: Units): Cost {
  const rest = without(spell, known);
  const count = spell.counts[name] ?? 0;
  return costPerRole((role) => (count === 0 ? 0 : Math.max(0, rest[role] / count)));
}

/**
 * Two operations that only come together, in two spells with different shares of them: the costs of both. `first` has
 * fewer of `other` for each `one` than `second`.
 */
export function twoUnits(
  [first, second]: readonly [Spell, Spell],
  [one, other]: readonly [string, string],
  known: Units,
): readonly [Cost, Cost] {
  const [a, b] = [computeUnit(first, one, known), computeUnit(second, one, known)];
  const share = (spell: Spell): number => (spell.counts[other] ?? 0) / (spell.counts[one] ?? 1);
  const [few, many] = [share(first), share(second)];
  const each = costPerRole((role) => Math.max(0, (b[role] - a[role]) / (many - few)));
  return [costPerRole((role) => Math.max(0, a[role] - few * each[role])), each];
}

/** How much longer than the quickest a spell of the same work may take. */
const SLACK = 1.1;

/**
 * Those of the same work that nothing else on the machine has held up: what waits is done several at a time, which costs
 * less than one by one.
 */
export function undisturbed(spells: readonly Spell[]): readonly Spell[] {
  const quickest = Math.min(...spells.map(({ seconds }) => seconds));
  return spells.filter(({ seconds }) => seconds <= quickest * SLACK);
}

/** The spells as one. */
export function together(spells: readonly Spell[]): Spell {
  const counts: Record<string, number> = {};
  for (const spell of spells)
    for (const [name, count] of Object.entries(spell.counts)) counts[name] = (counts[name] ?? 0) + count;
  return {
    seconds: spells.reduce((sum, { seconds }) => sum + seconds, 0),
    cost: costPerRole((role) => spells.reduce((sum, { cost }) => sum + cost[role], 0)),
    counts,
  };
}
