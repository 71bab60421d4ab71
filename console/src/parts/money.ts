import { language, t } from '../text/text.ts';

/** An amount of money as the API has it: null where it is not known. */
export interface Money {
  readonly amount: number | null;
  readonly currency: string | null;
}

/** Prices of single results are fractions of a cent; less than these digits tell is "less than". */
const MOST_DIGITS = 4;
const LEAST = 0.0001;

/** An amount in its currency; "Price unknown" where it is not known, never 0. */
export function moneyText({ amount, currency }: Money): string {
  if (amount === null || currency === null) return t('money.unknown');
  const isTiny = amount !== 0 && Math.abs(amount) < LEAST;
  const digits = Math.abs(amount) >= 1 || amount === 0 ? 2 : MOST_DIGITS;
  const text = findFormat(currency, 2, digits).format(isTiny ? LEAST : amount);
  return isTiny ? `< ${text}` : text;
}

/** How the amounts of one column are written: all with as many digits as the smallest of them needs. */
export function moneyFormat(amounts: readonly (number | null)[]): (money: Money) => string {
  const hasFractions = amounts.some((one) => one !== null && one !== 0 && Math.abs(one) < 0.01);
  const digits = hasFractions ? MOST_DIGITS : 2;
  return ({ amount, currency }) =>
    amount === null || currency === null
      ? t('money.unknown')
      : findFormat(currency, digits, digits).format(amount);
}

/** By currency and digits, at most this many: each costs more than writing a row of a list. */
const formats = new Map<string, Intl.NumberFormat>();
const MOST_FORMATS = 50;

function findFormat(currency: string, least: number, most: number): Intl.NumberFormat {
  const key = `${currency} ${least} ${most}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const made = new Intl.NumberFormat(language, {
    style: 'currency',
    currency,
    minimumFractionDigits: least,
    maximumFractionDigits: most,
  });
  if (formats.size < MOST_FORMATS) formats.set(key, made);
  return made;
}

/** An amount in minor units of its currency, such as cents. */
export function minorMoneyText(amount: number, currency: string): string {
  const digits = fractionDigits(currency);
  return findFormat(currency, digits, digits).format(amount / 10 ** digits);
}

/** Currencies that Stripe charges without decimals, and with three; all others in hundredths, as in subgraphs/workflow/domain/margin.ts. */
const WITHOUT_DECIMALS = 'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' ');
const IN_THOUSANDTHS = 'bhd jod kwd omr tnd'.split(' ');

/** How many digits the minor unit of a currency has: 2 for USD, 0 for JPY. */
export function fractionDigits(currency: string): number {
  const code = currency.toLowerCase();
  if (WITHOUT_DECIMALS.includes(code)) return 0;
  return IN_THOUSANDTHS.includes(code) ? 3 : 2;
}
