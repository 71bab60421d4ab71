import { refundFailed } from '../../subgraphs/workflow/payments/automatic-refunds.ts';
import type { PayProvider } from '../../subgraphs/workflow/payments/provider/pay-provider.ts';
import type { ReconcileStep } from '../../subgraphs/workflow/payments/reconcile.ts';
import { anna, operator } from './callers.ts';
import { openCommerce, type CommerceOptions } from './commerce.ts';

/** Does one thing of payments as a process of its own, and kills itself with -9 on the way: `node dying-process.ts <json>`. */
export interface DyingWork {
  readonly config: CommerceOptions['config'];
  readonly stripe: CommerceOptions['stripe'];
  readonly work:
    | { readonly do: 'checkout'; readonly key: string }
    | { readonly do: 'look'; readonly paymentId: string }
    | { readonly do: 'refund'; readonly paymentId: string; readonly key: string }
    | { readonly do: 'refund failed'; readonly executionId: string };
  readonly dieAt: Death;
}

/** Between two steps of reconcile, or before or after the provider is asked for the nth time. */
export type Death =
  | { readonly step: ReconcileStep }
  | {
      readonly when: 'before' | 'after';
      readonly call: 'createCheckout' | 'refund' | 'readCheckoutState';
      readonly nth: number;
    };

export const purchase = (key: string) => ({
  templateCode: 'poster',
  userId: anna.id,
  parameters: { prompt: 'a fox' },
  idempotencyKey: key,
});
export const returned = (key: string) =>
  ({ reason: 'USER_REQUEST', amount: 40, metadata: {}, idempotencyKey: key }) as const;

const die = () => process.kill(process.pid, 'SIGKILL');

function deadly(provider: PayProvider, death: Death): PayProvider {
  if ('step' in death) return provider;
  const { call, when, nth } = death;
  let calls = 0;
  const asks = provider[call].bind(provider) as (request: never) => Promise<never>;
  return {
    ...provider,
    async [call](request: never) {
      calls += 1;
      if (calls === nth && when === 'before') die();
      const answer = await asks(request);
      if (calls === nth) die();
      return answer;
    },
  };
}

async function main({ config, stripe, work, dieAt }: DyingWork): Promise<void> {
  const counter = await openCommerce({
    config,
    stripe,
    onStep: (step) => void ('step' in dieAt && dieAt.step === step && die()),
    between: (provider) => deadly(provider, dieAt),
  });
  const { payments } = counter;
  if (work.do === 'checkout') await payments.checkout(anna, purchase(work.key));
  if (work.do === 'look') await payments.reconcile(operator, { id: work.paymentId, sessionId: null });
  if (work.do === 'refund') await payments.refund(operator, work.paymentId, returned(work.key));
  if (work.do === 'refund failed') await refundFailed(counter, work.executionId);
  await counter.close();
}

const [, script, words] = process.argv;
if (script === import.meta.filename && words !== undefined) await main(JSON.parse(words) as DyingWork);
