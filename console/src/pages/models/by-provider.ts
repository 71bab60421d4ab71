import type {
  BindingPartsFragment,
  ModelsQuery,
  ProviderHoursQuery,
} from '../../api/documents/operations.ts';
import { providerName } from '../../parts/provider-name.ts';

/** What is to be said of a binding first. */
export type BindingState = 'away' | 'asked' | 'paused' | 'sandbox' | 'healthy';

/** Away: left alone until the next call; asked: that call is due or under way. */
export function readState({ breaker, paused, sandbox }: BindingPartsFragment): BindingState {
  if (breaker?.open === true) {
    return breaker.until !== null && Date.parse(breaker.until) > Date.now() ? 'away' : 'asked';
  }
  if (paused !== null) return 'paused';
  return sandbox ? 'sandbox' : 'healthy';
}

type Model = ModelsQuery['models'][number];
/** What one connection did in one hour. */
export type Hour = ProviderHoursQuery['providerHours'][number];

/** What is known of one provider. */
export interface ProviderGroup {
  readonly provider: string;
  readonly models: readonly Model[];
  /** Empty for callers who may not see them. */
  readonly bindings: readonly BindingPartsFragment[];
}

/** Models and connections by provider: those that need somebody first, then by name. */
export function byProvider(
  models: readonly Model[],
  bindings: readonly BindingPartsFragment[],
): readonly ProviderGroup[] {
  const names = new Set([...models, ...bindings].map(({ provider }) => provider));
  return [...names]
    .map((provider) => ({
      provider,
      models: models.filter((one) => one.provider === provider),
      bindings: bindings.filter((one) => one.provider === provider),
    }))
    .toSorted(
      (one, other) =>
        readUrgency(other) - readUrgency(one) ||
        providerName(one.provider).localeCompare(providerName(other.provider)),
    );
}

const URGENCY: Readonly<Record<BindingState, number>> = {
  away: 3,
  asked: 2,
  paused: 1,
  sandbox: 0,
  healthy: 0,
};

/** How much a provider needs somebody: its worst connection says so. */
export function readUrgency({ bindings }: ProviderGroup): number {
  return Math.max(0, ...bindings.map((binding) => URGENCY[readState(binding)]));
}

/** The state that is shown of a provider: its worst one; healthy where one connection is real. */
export function readProviderState({ bindings }: ProviderGroup): BindingState {
  const states = bindings.map((binding) => readState(binding));
  const worst = (['away', 'asked', 'paused'] as const).find((state) => states.includes(state));
  return worst ?? (states.includes('healthy') ? 'healthy' : 'sandbox');
}

/** The ways to connect a provider, each as the lines of an .env file: "A and B, or C" are two. */
export function connectLines(settings: readonly string[]): readonly (readonly string[])[] {
  const ways = settings.flatMap((text) => text.split(/,? or |; /));
  const lines = ways.map((way) => way.split(/,? and |, /).map((name) => `${name.trim()}=`));
  const seen = new Set<string>();
  return lines.filter((way) => {
    const key = way.join('\n');
    return !seen.has(key) && seen.add(key);
  });
}

/** One hour of the plot. */
export interface Bar {
  readonly hour: number;
  readonly attempts: number;
  readonly failed: number;
}

const HOUR_MS = 3_600_000;
const HOURS = 24;

/** The last 24 hours of some connections, oldest first, the present hour last. */
export function countByHour(
  hours: readonly Hour[],
  bindings: readonly string[],
  now: number,
): readonly Bar[] {
  const last = Math.floor(now / HOUR_MS) * HOUR_MS;
  const own = hours.filter(({ binding }) => bindings.includes(binding));
  return Array.from({ length: HOURS }, (_, index) => {
    const hour = last - (HOURS - 1 - index) * HOUR_MS;
    const within = own.filter((one) => Date.parse(one.hour) === hour);
    const attempts = within.reduce((sum, one) => sum + one.attempts, 0);
    const succeeded = within.reduce((sum, one) => sum + one.succeeded, 0);
    return { hour, attempts, failed: attempts - succeeded };
  });
}
