import {
  PayProviderError,
  type MadeRefund,
  type PayProvider,
} from '../../subgraphs/workflow/payments/provider/pay-provider.ts';
import type { ScheduledProcess } from './scheduled-process.ts';

/** What everybody pays, and what an operator refunds at a time, in minor units. */
export const PRICE = 100;
export const PART = 30;

/** What was paid, and every refund of it that was made. */
interface Charge {
  readonly refunds: { readonly refundId: string; readonly made: MadeRefund }[];
}

/** A payment provider that keeps a journal of what it refunded, and misbehaves as it is told. */
export interface ModelPayments {
  /** By payment id. */
  readonly charges: Map<string, Charge>;
  /** Refunds that were made twice. */
  readonly violations: string[];
  /** What becomes of the next refunds; made and answered when there is none. */
  readonly nextRefunds: ('refused' | 'answer lost')[];
  /** Forgets the idempotency keys, as a provider does after a day. */
  forget(): void;
  makeProvider(process: ScheduledProcess): PayProvider;
}

/** Makes it. */
export function createModelPayments(): ModelPayments {
  const state: State = {
    charges: new Map(),
    violations: [],
    nextRefunds: [],
    remembered: new Map(),
    forget: () => state.remembered.clear(),
    makeProvider: (process) => createProvider(state, process),
  };
  return state;
}

type State = ModelPayments & { readonly remembered: Map<string, MadeRefund> };

/** What was given back in all. */
export const sumRefunds = ({ refunds }: Charge): number =>
  refunds.reduce((sum, { made }) => sum + made.amount, 0);

const unanswered = (): PayProviderError => new PayProviderError('UNAVAILABLE', 'no answer');

function createProvider(state: State, process: ScheduledProcess): PayProvider {
  const findCharge = (paymentId: string): Charge => {
    const charge = state.charges.get(paymentId);
    if (charge === undefined) throw new PayProviderError('NOT_FOUND', 'no such payment');
    return charge;
  };
  return {
    environment: 'development',
    async readCheckoutState(sessionId) {
      await process.gate('checkout');
      const amountRefunded = sumRefunds(findCharge(sessionId));
      await process.gate('answer of checkout');
      return {
        sessionId,
        paymentId: sessionId,
        session: 'complete',
        isPaid: true,
        isSettling: false,
        paymentIntentId: sessionId,
        amount: PRICE,
        currency: 'usd',
        amountRefunded,
        isDisputed: false,
      };
    },
    async refund({ refundId, paymentIntentId, amount }) {
      await process.gate('send refund');
      const fate = state.nextRefunds.shift();
      if (fate === 'refused') throw unanswered();
      const made =
        state.remembered.get(refundId) ?? make(state, findCharge(paymentIntentId), { refundId, amount });
      await process.gate('answer of refund');
      if (fate === 'answer lost') throw unanswered();
      return made;
    },
    async findRefund({ refundId, paymentIntentId }) {
      await process.gate('find refund');
      return findCharge(paymentIntentId).refunds.find((each) => each.refundId === refundId)?.made ?? null;
    },
    async listRefunds(paymentIntentId) {
      await process.gate('refunds');
      return findCharge(paymentIntentId).refunds.map(({ refundId, made }) => ({
        ...made,
        refundId,
        reason: 'USER_REQUEST',
        createdAt: new Date(),
      }));
    },
    async *undelivered() {},
    account: unused,
    createCheckout: unused,
    expireCheckout: unused,
    sessionOfIntent: unused,
    readEvent: unused,
    catalog: null as never,
  };
}

/** Nothing of the model opens a checkout or receives a webhook. */
function unused(): never {
  throw new Error('not part of the model');
}

function make(
  { violations, remembered }: State,
  charge: Charge,
  { refundId, amount }: { readonly refundId: string; readonly amount: number },
): MadeRefund {
  if (amount > PRICE - sumRefunds(charge)) throw new PayProviderError('REFUSED', 'more than is left');
  if (charge.refunds.some((each) => each.refundId === refundId))
    violations.push(`refunded twice: ${refundId}`);
  const made = { id: `re_${refundId}_${charge.refunds.length}`, amount, status: 'succeeded' };
  charge.refunds.push({ refundId, made });
  remembered.set(refundId, made);
  return made;
}
