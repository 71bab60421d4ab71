import type { ModelsQuery } from '../api/documents/operations.ts';
import { moneyText } from '../parts/money.ts';
import { durationText } from '../parts/time.tsx';
import { language, once, t } from '../text/text.ts';
import type { Model } from './work.ts';

/** When the provider of a model ends it. */

/** A model as far as its end is told. */
interface Ending {
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

/** What a model costs, in one number. */

/** Prices as the API tells them; null when they are not known. */
type Prices = ModelsQuery['models'][number]['prices'];

/** The lowest price of the unit that says most, for as many units as people reckon with. */
interface ShownPrice {
  readonly unit: Unit;
  readonly amount: number;
  readonly currency: string;
  /** There are higher ones, of other sizes or qualities. */
  readonly isLowest: boolean;
}

type Unit = (typeof UNITS)[number];

/** What a result costs by, before what it is made of. */
const UNITS = [
  'picture',
  'second',
  'run',
  'character',
  'outputToken',
  'inputToken',
  'cachedToken',
  'gpuSecond',
] as const;

/** Single ones of these cost next to nothing. */
const RECKONED: Partial<Record<Unit, number>> = {
  character: 1_000,
  outputToken: 1_000_000,
  inputToken: 1_000_000,
  cachedToken: 1_000_000,
};

/** The price that a list of models shows; null where none is known. */
export function shownPrice(prices: Prices): ShownPrice | null {
  if (prices === null) return null;
  const unit = UNITS.find((one) => prices.prices.some((price) => price.unit === one));
  if (unit === undefined) return null;
  const amounts = prices.prices
    .filter((price) => price.unit === unit)
    .map(({ amount, per }) => (amount * (RECKONED[unit] ?? 1)) / per);
  const amount = Math.min(...amounts);
  return { unit, amount, currency: prices.currency, isLowest: amounts.some((one) => one > amount) };
}

/** What the choice of a model says of its price and its end. */

/** Ends that are further away need nobody's attention yet. */
const SOON_DAYS = 60;
const relative = once(() => new Intl.RelativeTimeFormat(language, { numeric: 'auto' }));
const date = once(() => new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }));

/** What a result costs; null in the sandbox, when that is not known. */
export function priceText({ prices, sandbox }: Model): string | null {
  const price = shownPrice(prices);
  if (price === null) return sandbox ? null : t('money.unknown');
  const text = t(`price.${price.unit}`, { amount: moneyText(price) });
  return price.isLowest ? t('price.from', { price: text }) : text;
}

/** How long its work usually takes, "about 40 s"; null where that is not known. */
export function usualText({ usualSeconds }: Pick<Model, 'usualSeconds'>): string | null {
  if (typeof usualSeconds !== 'number') return null;
  return t('model.usually', { time: durationText(usualSeconds * 1_000) });
}

/** "ends in 18 days", "ended"; null when that is far away or not known. */
export function endText(model: Model): string | null {
  const left = daysLeft(model);
  if (left === 0) return t('model.ended');
  if (left === null || left > SOON_DAYS) return null;
  return t('model.ends', { when: relative().format(left, 'day') });
}

/** Why a start of a model would be refused, or wait for an administrator: said before it is asked; null when it would not. */
export function findRefusal(model: Model): string | null {
  if (!model.allowed) return t('model.notAllowed');
  return insteadText(model) ?? (model.paused ? t('model.paused') : null);
}

/** What to use in place of a model that has ended; null while it has not. */
function insteadText(model: Model): string | null {
  const { retiresAt, successor } = model;
  if (daysLeft(model) !== 0 || retiresAt === null) return null;
  const day = date().format(new Date(retiresAt));
  return successor === null ? t('model.endedOn', { day }) : t('model.endedUse', { day, successor });
}
