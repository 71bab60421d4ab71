/** When the provider of a model ends it. Pure. */

/** A model as far as its end is told. */
export interface Ending {
  /** The first day on which its provider refuses it, YYYY-MM-DD. */
  readonly retiresAt?: string | null;
}

const DAY_MS = 86_400_000;

/** Days that a model has left, none when it has ended; null when no end is known. */
export function daysLeft({ retiresAt }: Ending, now = Date.now()): number | null {
  if (retiresAt === undefined || retiresAt === null) return null;
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  return Math.max(0, Math.round((Date.parse(retiresAt) - today) / DAY_MS));
}

/** Whether its provider refuses it. */
export function hasEnded(model: Ending, now = Date.now()): boolean {
  return daysLeft(model, now) === 0;
}

/** The models that can still be asked. */
export function current<One extends Ending>(models: readonly One[]): readonly One[] {
  return models.filter((model) => !hasEnded(model));
}
