import type { Finding, Verified } from './verified.ts';

interface Payment {
  readonly session: string;
  readonly status: string;
  readonly execution: string | null;
}

/** What was paid is delivered and kept, or given back once and whole, by Kiln's word and by the provider's. */
export async function verifyMoney(verified: Verified, paid: ReadonlySet<string>): Promise<Finding> {
  const payments = await verified.rows<Payment>(
    `select pp_session_id as session, payment.status, execution.status as execution from workflow.payments payment
      left join workflow.executions execution on execution.id = payment.execution_id`,
  );
  const wrong: string[] = [];
  for (const session of paid) {
    const payment = payments.find((one) => one.session === session);
    const { taken, refunds } = await atProvider(verified, session);
    const given = refunds.reduce((sum, amount) => sum + amount, 0);
    if (isRight(payment, taken, given)) continue;
    wrong.push(
      `${session}: ${payment?.status}, ${payment?.execution}, ${taken} taken, ${refunds.join(' + ') || 0} given back`,
    );
  }
  return { what: 'paid and delivered, or given back', count: paid.size, wrong };
}

function isRight(payment: Payment | undefined, taken: number, given: number): boolean {
  if (payment === undefined || taken === 0) return false;
  const isDelivered = payment.execution === 'COMPLETED';
  if (isDelivered) return payment.status === 'COMPLETED' && given === 0;
  return payment.status === 'REFUNDED' && given === taken;
}

/** What the provider has taken for a session, and each refund of it. */
async function atProvider(
  verified: Verified,
  session: string,
): Promise<{ readonly taken: number; readonly refunds: readonly number[] }> {
  const { amount_total, payment_intent, payment_status } = await ask<{
    amount_total: number;
    payment_intent: string | null;
    payment_status: string;
  }>(verified, `checkout/sessions/${session}`);
  if (payment_intent === null || payment_status !== 'paid') return { taken: 0, refunds: [] };
  const { data } = await ask<{ data: readonly { amount: number; status: string }[] }>(
    verified,
    `refunds?payment_intent=${payment_intent}`,
  );
  return {
    taken: amount_total,
    refunds: data.filter(({ status }) => status === 'succeeded').map(({ amount }) => amount),
  };
}

async function ask<Value>({ sandboxUrl }: Verified, what: string): Promise<Value> {
  const answer = await fetch(`${sandboxUrl}/v1/${what}`, {
    headers: { authorization: 'Bearer sk_test_kilnsandbox' },
  });
  return (await answer.json()) as Value;
}
