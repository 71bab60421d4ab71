import type { Payment } from './payment.ts';

/** What a sale leaves after what its execution cost. Pure. */

/** What the task of an execution costs, as media tells it. */
export interface TaskCost {
  /** In units of the currency; null when a price is unknown. */
  readonly amount: number | null;
  /** As the price list has it; null without one. */
  readonly currency: string | null;
  /** Whether some of it is expected instead of measured: always until the task has ended. */
  readonly estimated: boolean;
}

/** The margin of a payment, in minor units of its currency. */
export interface Margin {
  /** What was paid and not given back. */
  readonly kept: number;
  /** Null when it is unknown, or in another currency. */
  readonly cost: number | null;
  /** Null when the cost is. */
  readonly margin: number | null;
  readonly isEstimated: boolean;
}

/** The margin; `cost` is null when media does not tell it. */
export function computeMargin(
  { amount, amountRefunded, currency }: Pick<Payment, 'amount' | 'amountRefunded' | 'currency'>,
  cost: TaskCost | null,
): Margin {
  const kept = amount - amountRefunded;
  const isEstimated = cost?.estimated ?? true;
  if (cost === null || cost.amount === null || cost.currency?.toLowerCase() !== currency)
    return { kept, cost: null, margin: null, isEstimated };
  const inMinorUnits = exact(cost.amount * 10 ** countDigits(currency));
  return { kept, cost: inMinorUnits, margin: exact(kept - inMinorUnits), isEstimated };
}

/** Without the last digits of a double: costs are exact to a millionth of the currency. */
const exact = (amount: number): number => Math.round(amount * 1_000_000) / 1_000_000;

/**
 * Currencies that Stripe charges without decimals, and with three; all others in hundredths (docs.stripe.com/currencies).
 * Not from Intl: it says how prices are displayed, and gives forints and rupiahs no decimals, though they are charged in hundredths.
 */
const WITHOUT_DECIMALS: ReadonlySet<string> = new Set(
  'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '),
);
const IN_THOUSANDTHS: ReadonlySet<string> = new Set('bhd jod kwd omr tnd'.split(' '));

/** How many decimal digits a currency's minor unit has at the payment provider. */
function countDigits(currency: string): number {
  if (WITHOUT_DECIMALS.has(currency)) return 0;
  return IN_THOUSANDTHS.has(currency) ? 3 : 2;
}
