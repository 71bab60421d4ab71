import { USUAL_SECONDS } from '../../domain/work/kind.ts';
import type { Provider } from '../../providers/contract/provider.ts';
import type { Binding } from '../bindings/binding.ts';
import { createBindingName } from '../bindings/identity.ts';
import { namesModel } from '../catalog/catalog.ts';
import type { CatalogEntry } from '../catalog/entry.ts';

/** The defaults of bindings. */
export const BINDING_DEFAULTS = {
  concurrency: 12,
  maxWaiting: 10_000,
  retryUnknownStart: false,
  attemptTimeoutSeconds: USUAL_SECONDS,
  budgetSeconds: 7_200,
} as const satisfies Partial<Binding>;

/** A binding as the settings or a file describe it; what is absent or undefined gets its default. */
interface BindingDescription extends Limits {
  readonly generator: string;
  /** Its position among the generator's bindings. */
  readonly index: number;
  /** What it was called: stands for its account, so that its key can be replaced while its work runs. */
  readonly name?: string | undefined;
  /** What it does, for its name, where it was given none (default: nothing that tells it from others of its upstream). */
  readonly words?: string | undefined;
  readonly provider: Provider;
  readonly connection: OrUndefined<Omit<Binding['connection'], 'baseUrl' | 'model'>> & {
    readonly baseUrl: string;
  };
  /** The settings that it comes from. */
  readonly settings: string;
  /** The model of the connection (default: the first of `models`). */
  readonly model?: string | undefined;
  /** The models that callers may name, the default first. */
  readonly models: readonly CatalogEntry[];
  /** The day that models end by, YYYY-MM-DD. */
  readonly today: () => string;
  readonly sandbox: boolean;
  readonly isAggregated?: boolean | undefined;
  /** Whether callers may name models besides these. */
  readonly takesAnyModel?: boolean | undefined;
}

type OrUndefined<Shape> = { readonly [Name in keyof Shape]?: Shape[Name] | undefined };
type Limits = OrUndefined<
  Pick<Binding, keyof typeof BINDING_DEFAULTS | 'requestsPerMinute' | 'callTimeoutSeconds'>
>;

/** Makes the binding that is described. */
export function createBinding(description: BindingDescription): Binding {
  const { generator, index, provider, connection, models, sandbox, today } = description;
  const { name } = provider;
  const named = {
    generator,
    account: description.name,
    provider,
    connection: {
      baseUrl: connection.baseUrl,
      pathPrefix: connection.pathPrefix ?? '',
      headers: connection.headers ?? {},
      credentials: connection.credentials ?? {},
      model: namesModel(name) ? (description.model ?? models[0]?.id ?? null) : null,
      nodes: connection.nodes ?? [],
      endpoints: connection.endpoints ?? {},
      resultOrigins: connection.resultOrigins ?? [],
    },
    sandbox,
  };
  return {
    ...named,
    id: `${generator}#${index}`,
    name: createBindingName(named, description.words),
    settings: description.settings,
    isAggregated: description.isAggregated ?? false,
    takesAnyModel: description.takesAnyModel ?? false,
    concurrency: description.concurrency ?? BINDING_DEFAULTS.concurrency,
    requestsPerMinute: description.requestsPerMinute,
    maxWaiting: description.maxWaiting ?? BINDING_DEFAULTS.maxWaiting,
    retryUnknownStart: description.retryUnknownStart ?? BINDING_DEFAULTS.retryUnknownStart,
    callTimeoutSeconds: description.callTimeoutSeconds,
    attemptTimeoutSeconds: description.attemptTimeoutSeconds ?? computeAttemptTimeout(description),
    budgetSeconds: description.budgetSeconds ?? BINDING_DEFAULTS.budgetSeconds,
    models: models.map((model) => {
      const daysLeft = (): number | null => daysUntil(model.retiresAt, today());
      const isRetired = (): boolean => (daysLeft() ?? Infinity) <= 0;
      return { ...model, generator, provider: name, sandbox, daysLeft, isRetired };
    }),
  };
}

/** Long enough for its longest call: twice what the catalog says of usual pieces, as the largest and best take longer. */
function computeAttemptTimeout({ callTimeoutSeconds = 0, models }: BindingDescription): number {
  const longest = models.map(({ longestSeconds }) => 2 * (longestSeconds ?? 0));
  return Math.max(BINDING_DEFAULTS.attemptTimeoutSeconds, callTimeoutSeconds, ...longest);
}

const DAY_MS = 86_400_000;

function daysUntil(end: string | null, today: string): number | null {
  return end === null ? null : (Date.parse(end) - Date.parse(today)) / DAY_MS;
}
