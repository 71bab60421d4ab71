import type { JsonObject } from '../../../../platform/json.ts';
import { addUnits, type Cost, type Units } from '../../domain/cost.ts';
import { expectedUnits, computeMicroUnits, type ModelPrices } from '../../domain/price.ts';
import type { StepInput } from '../../domain/work/work.ts';
import type { Binding } from '../bindings/binding.ts';
import { modelFor } from '../limits/limits.ts';

/** What work at a binding costs: measured when it has ended, expected before. Pure. */

/** How an attempt ended, as its price depends on it. */
export type Ending =
  /** The upstream has done it. */
  | 'finished'
  /** It ran there, and failed or was cancelled. */
  | 'failed'
  /** The upstream never accepted it. */
  | 'refused'
  /** It is not known whether the upstream accepted it. */
  | 'unknown';

/** What is to be priced. `binding` is null when it has left the configuration: then the price is unknown. */
export interface Charged {
  readonly binding: Binding | null;
  readonly model: string | null;
  readonly input: StepInput;
  /** What the upstream or the files say; what it lacks is taken from the inputs. */
  readonly measured: Units;
  readonly ending: Ending;
}

/** The cost of an attempt that has ended. */
export function costOfAttempt({ binding, model, input, measured, ending }: Charged): Cost {
  const currency = binding?.prices?.currency ?? null;
  if (ending === 'refused') return { microUnits: 0, currency, units: {}, estimated: false };
  if (ending === 'unknown') return { microUnits: null, currency, units: {}, estimated: false };
  const prices = binding?.prices?.of(model) ?? null;
  const isCharged = ending === 'finished' || prices?.chargesFailures === true;
  const known = binding === null ? undefined : modelFor(binding, input);
  const whole = { ...countUnits(input), ...inWholeSeconds(measured, known?.durations ?? []) };
  if (prices !== null && !isCharged) return { microUnits: 0, currency, units: measured, estimated: false };
  return priced(prices, currency, { units: whole, input, results: whole.pictures });
}

/** Files are some frames longer or shorter than the duration that was made and is charged. */
function inWholeSeconds(measured: Units, durations: readonly number[]): Units {
  const { milliseconds } = measured;
  if (milliseconds === undefined) return measured;
  const made = durations.find((seconds) => Math.abs(seconds * 1000 - milliseconds) < 500);
  return made === undefined ? measured : { ...measured, milliseconds: made * 1000 };
}

/** What one step is expected to cost at a binding. */
export function expectedCost(binding: Binding, input: StepInput): Cost {
  const { currency = null } = binding.prices ?? {};
  const known = modelFor(binding, input);
  const model = input.model ?? binding.connection.model ?? known?.id ?? null;
  const prices = binding.prices?.of(model) ?? null;
  const [seconds] = known?.durations ?? [];
  const usual = seconds === undefined ? {} : { milliseconds: seconds * 1000 };
  const own = countUnits(input);
  const units: Units = {
    ...usual,
    ...forEach((prices && expectedUnits(prices, input)) ?? {}, own.pictures ?? 1),
    ...own,
  };
  return { ...priced(prices, currency, { units, input }), estimated: true };
}

/** What is expected for one result, for so many. */
function forEach(expected: Units, count: number): Units {
  const scaled = Object.entries(expected).map(([name, quantity]) => [name, quantity * count] as const);
  return Object.fromEntries(scaled);
}

/** What a chat of a model is priced by besides its tokens: options in the names of the vendor. */
export interface PricedChat {
  readonly model: string | null;
  readonly options?: JsonObject | null;
}

/** What a chat costs; `units` null: it broke off, and what it took is not known. */
export function costOfChat(
  { prices }: Pick<Binding, 'prices'>,
  { model, options }: PricedChat,
  units: Units | null,
): Cost {
  const currency = prices?.currency ?? null;
  if (units === null) return { microUnits: null, currency, units: {}, estimated: false };
  const known = prices?.of(model) ?? null;
  return priced(known, currency, {
    units: { ...imagesOfChat(known, 0), runs: 1, ...units },
    input: chatInput(options),
  });
}

/** So many images, where the model is charged for them. */
function imagesOfChat(prices: ModelPrices | null, pictures: number): Units {
  return prices?.prices.some(({ unit }) => unit === 'picture') === true ? { pictures } : {};
}

function chatInput(options: JsonObject | null | undefined): object {
  return { kind: 'CHAT', ...(options && { options }) };
}

/** Characters that make about one token, and the tokens of a reply that nobody has bounded. */
const CHARACTERS_PER_TOKEN = 4;
const USUAL_REPLY = 1_000;

/** What a chat is expected to cost. */
export function expectedCostOfChat(
  { prices }: Pick<Binding, 'prices'>,
  { model, options }: PricedChat,
  chat: { readonly characters: number; readonly maxTokens: number | null },
): Cost {
  const known = prices?.of(model) ?? null;
  const input = chatInput(options);
  const expected = known === null ? undefined : expectedUnits(known, input);
  const units: Units = {
    ...imagesOfChat(known, 1),
    ...expected,
    runs: 1,
    inputTokens: Math.ceil(chat.characters / CHARACTERS_PER_TOKEN),
    outputTokens: chat.maxTokens ?? expected?.outputTokens ?? USUAL_REPLY,
  };
  return {
    ...priced(known, prices?.currency ?? null, { units, input }),
    estimated: true,
  };
}

function priced(
  prices: ModelPrices | null,
  currency: string | null,
  {
    units,
    input,
    results = 1,
  }: { readonly units: Units; readonly input: object; readonly results?: number | undefined },
): Cost {
  if (prices === null) return { microUnits: null, currency, units, estimated: false };
  const microUnits = computeMicroUnits(prices, units, input);
  const expected = expectedUnits(prices, input);
  if (microUnits !== null || expected === undefined) {
    return { microUnits, currency, units, estimated: false };
  }
  const whole = { ...forEach(expected, results), ...units };
  return { microUnits: computeMicroUnits(prices, whole, input), currency, units: whole, estimated: true };
}

/** The units that the inputs themselves tell. */
function countUnits(input: StepInput): Units {
  const pictures =
    input.kind === 'IMAGE' || input.kind === 'CHARACTER_IMAGE' ? (input.count ?? 1) : undefined;
  const seconds = 'duration' in input ? input.duration : undefined;
  const text = 'text' in input ? input.text : undefined;
  return addUnits(
    { runs: 1 },
    {
      ...(pictures !== undefined && { pictures }),
      ...(seconds !== undefined && { milliseconds: Math.round(seconds * 1000) }),
      ...(text !== undefined && { characters: text.length }),
    },
  );
}
