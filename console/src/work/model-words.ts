import { moneyText } from '../parts/money.ts';
import { durationText } from '../parts/time.tsx';
import { language, t } from '../text/text.ts';
import { daysLeft } from './ending.ts';
import { shownPrice } from './prices.ts';
import type { Model } from './work.ts';

/** What the choice of a model says of its price and its end. */

/** Ends that are further away need nobody's attention yet. */
const SOON_DAYS = 60;
const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
const date = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' });

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
  return t('model.ends', { when: relative.format(left, 'day') });
}

/** Why a start of a model would be refused, or wait for an administrator: said before it is asked; null when it would not. */
export function refusalOf(model: Model): string | null {
  if (!model.allowed) return t('model.notAllowed');
  return insteadText(model) ?? (model.paused ? t('model.paused') : null);
}

/** What to use in place of a model that has ended; null while it has not. */
function insteadText(model: Model): string | null {
  const { retiresAt, successor } = model;
  if (daysLeft(model) !== 0 || retiresAt === null) return null;
  const day = date.format(new Date(retiresAt));
  return successor === null ? t('model.endedOn', { day }) : t('model.endedUse', { day, successor });
}
