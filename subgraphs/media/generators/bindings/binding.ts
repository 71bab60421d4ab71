import type { BindingPrices, ModelPrices } from '../../domain/price.ts';
import type { Connection, NamedModel, Provider } from '../../providers/contract/provider.ts';
import type { CatalogEntry } from '../catalog/entry.ts';

/**
 * A generator is what an API caller names ("agg/imga"); a binding says what does its work: provider, model, address,
 * credentials, limits. Bindings are configuration; the bundled ones point to the sandbox until a key is set.
 */
export interface Binding {
  /**
   * Its place in the list of its generator, `<generator>#<index>`: what waits is queued there. Another binding may have it
   * tomorrow, so that nothing about a provider goes by it.
   */
  readonly id: string;
  /** Unique, and its own wherever it stands in the list (identity.ts): pauses, breakers, slots, paces and figures go by it. */
  readonly name: string;
  readonly generator: string;
  /** What GENERATORS_FILE calls it; stands for its account (identity.ts). */
  readonly account?: string | undefined;
  readonly provider: Provider;
  readonly connection: Connection;
  /** The settings that its credentials come from, for operators. */
  readonly settings: string;
  /** True when it points to the sandbox. */
  readonly sandbox: boolean;
  /** Most attempts at once that are claimed or running, over all workers. */
  readonly concurrency: number;
  /** Most requests that start work in any minute, over all workers; absent: no limit. */
  readonly requestsPerMinute?: number | undefined;
  /** Longest queue; beyond it submissions are refused with QUEUE_FULL. */
  readonly maxWaiting: number;
  /** Whether a start that may have happened is simply repeated (free or local upstreams). */
  readonly retryUnknownStart: boolean;
  /** Most seconds of a call that makes the result itself; absent: what the model says, or the wire usually takes. */
  readonly callTimeoutSeconds?: number | undefined;
  /** Seconds one attempt may take before it counts as stalled. */
  readonly attemptTimeoutSeconds: number;
  /** Seconds after the first try of a start in which others may follow: how long its work waits for a provider that is away. */
  readonly budgetSeconds: number;
  /**
   * Its models, each with kinds and limits; the first of a kind that is not retired is its default. Absent: every kind of its provider,
   * whatever the model, without limits of its own.
   */
  readonly models?: readonly CatalogModel[];
  /** Whether callers may name any model that its vendor describes, besides these. */
  readonly takesAnyModel?: boolean;
  /**
   * Has a model that `models` lacks read about at its vendor, and listed; `again`: also when it was read before. BAD_USER_INPUT
   * when it can't be used here, UNAVAILABLE when the vendor does not answer; nothing when there is none of this name. Absent: no
   * other models.
   */
  readonly learnModel?: (name: string, again?: boolean) => Promise<void>;
  /** Names of models at its vendor that fit some words and may be used here; absent: no other models. Throws UpstreamError. */
  readonly findModels?: (words: string) => Promise<readonly NamedModel[]>;
  /** Whether it does its work in batches of the vendor: for work that may wait, before any other binding. */
  readonly isBatched?: boolean;
  /** Whether an aggregator stands before the provider, with prices of its own. */
  readonly isAggregated?: boolean;
  /** Says whether its upstream is to be asked now; absent: always. */
  readonly breaker?: BindingBreaker;
  /** Whether an administrator has paused it, so that it gets no new work; absent: never. */
  readonly isPaused?: () => boolean;
  /** What its work costs; absent: unknown. */
  readonly prices?: BindingPrices;
}

/** The circuit breaker of a binding, as those see it who ask its upstream. */
interface BindingBreaker {
  /** Milliseconds until it may be asked again; 0: now. */
  pauseMs(): number;
  /** Takes the right to ask. While the breaker is open that is one call per pause. */
  admit(): boolean;
  /** Milliseconds until a start may be sent: the pause, or the time that the upstream has asked for. */
  waitMs(): number;
}

/** A model of a binding. */
export interface CatalogModel extends CatalogEntry {
  readonly generator: string;
  readonly provider: string;
  readonly sandbox: boolean;
  /** When its description was read at its vendor; absent: it is the catalog's. */
  readonly fetchedAt?: Date;
  /** Whole days until it ends, 0 on the first day on which it is refused; null when no end is known. */
  readonly daysLeft: () => number | null;
  /** Whether its day has come: nothing new is sent to it. */
  readonly isRetired: () => boolean;
}

/** One entry of the `models` query. */
export interface ListedModel extends CatalogModel {
  /** Whether its generator takes it for one of its kinds when no model is named. */
  readonly isDefault: boolean;
  /** What its work costs at the binding that has it; null: unknown. */
  readonly charges: (ModelPrices & { readonly currency: string }) | null;
  /** Whether its vendor does its work in batches at half the price; absent: no. */
  readonly hasBatches?: boolean;
}

/** Where an attempt was begun. */
export interface PlacedAttempt {
  /** The id that its binding had then. */
  readonly binding: string;
  /** The name of its binding; null: begun by a release that did not keep it. */
  readonly bindingName: string | null;
  readonly provider: string;
  /** As identifyUpstream says it; null: begun by a release that did not keep it. */
  readonly upstream: string | null;
}

/** Every binding, by generator, in the order of fall-back. */
export interface GeneratorRegistry {
  /**
   * The bindings of a generator for a kind of work, in the order of fall-back; of a model-selected generator only those
   * that serve the model. NOT_CONFIGURED (`missing` has the setting), BAD_USER_INPUT (no such generator, kind or model) or
   * MODEL_RETIRED (the model, or every one that could do it, has ended).
   */
  bindingsFor(generator: string, kind: string, model?: string): readonly Binding[];
  /** The binding that has this place now. */
  byId(id: string): Binding | null;
  /** The binding of this name; by its id too, which is what it was called before it had one. */
  byName(name: string): Binding | null;
  /**
   * The binding that reaches the upstream and account of an attempt, whatever its position is by now; null: not configured here.
   */
  ofAttempt(attempt: PlacedAttempt): Binding | null;
  all(): readonly Binding[];
  /** Generators that are not available here, and the settings that would give them a provider: for operators. */
  missing(): Readonly<Record<string, string>>;
  /** Names of every generator that serves a kind. */
  generators(kind?: string): readonly string[];
  /** Those that have not ended, unless `retired` says otherwise. */
  models(filter: {
    readonly generator?: string;
    readonly category?: string;
    readonly retired?: boolean;
  }): readonly ListedModel[];
}
