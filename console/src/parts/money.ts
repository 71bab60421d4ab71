import { language, t } from '../text/text.ts';

/** An amount of money as the API has it: null where it is not known. */
export interface Money {
  readonly amount: number | null;
  readonly currency: string | null;
}

/** Prices of single results are fractions of a cent. */
const MOST_DIGITS = 4;
const TINY_DIGITS = 6;

/** An amount in its currency; "Price unknown" where it is not known, never 0. */
export function moneyText({ amount, currency }: Money): string {
  if (amount === null || currency === null) return t('money.unknown');
  const digits =
    Math.abs(amount) >= 1 || amount === 0 ? 2 : Math.abs(amount) < 0.001 ? TINY_DIGITS : MOST_DIGITS;
  const format = new Intl.NumberFormat(language, {
    style: 'currency',
    currency,
    minimumFractionDigits: Math.min(digits, 2),
    maximumFractionDigits: digits,
  });
  return format.format(amount);
}
/** An amount in minor units of its currency, such as cents. */
export function minorMoneyText(amount: number, currency: string): string {
  const format = new Intl.NumberFormat(language, { style: 'currency', currency });
  return format.format(amount / 10 ** fractionDigits(currency));
}

/** How many digits the minor unit of a currency has: 2 for USD, 0 for JPY. */
export function fractionDigits(currency: string): number {
  const format = new Intl.NumberFormat(language, { style: 'currency', currency });
  return format.resolvedOptions().maximumFractionDigits ?? 2;
}
