import { createHmac } from 'node:crypto';

import { rest } from '../../../test/kit/clients/requests.ts';
import { type AttackClass, type Attempt, modes, told, type World } from '../attack.ts';

/** Getting work that was not paid for: forged events, sessions of others, and templates run without a payment. */
export const payments: AttackClass = {
  name: 'payments',
  modes,
  isQuick: true,
  async run(world) {
    return [...(await forgedEvents(world)), ...(await foreignSessions(world)), ...(await unpaid(world))];
  },
};

async function forgedEvents({ url }: World): Promise<Attempt[]> {
  const event = JSON.stringify({
    type: 'checkout.session.completed',
    data: { object: { id: 'cs_x', payment_status: 'paid' } },
  });
  const at = Math.floor(Date.now() / 1_000);
  const guessed = createHmac('sha256', 'whsec_guess').update(`${at}.${event}`).digest('hex');
  const attempts: Attempt[] = [];
  for (const [what, signature] of [
    ['without a signature', ''],
    ['with a guessed one', `t=${at},v1=${guessed}`],
    ['with an old one', `t=1,v1=${guessed}`],
  ]) {
    const { status } = await rest(url, 'POST', '/payment/webhook', event, {
      'content-type': 'application/json',
      'pp-signature': signature ?? '',
    });
    attempts.push({
      what: `an event ${what}`,
      answer: String(status),
      // 503: nobody takes payments.
      succeeded: status < 400 || (status >= 500 && status !== 503),
    });
  }
  return attempts;
}

async function foreignSessions({ url, mode, owned, attackers }: World): Promise<Attempt[]> {
  const payment = owned['a user']?.['payment'];
  if (payment === undefined) return [];
  const attempts: Attempt[] = [];
  for (const [who, headers] of Object.entries(attackers)) {
    for (const query of [
      `payment_id=${payment}`,
      `payment_id=${payment}&session_id=cs_test_guess`,
      'session_id=cs_test_guess',
    ]) {
      const { status, body } = await rest(url, 'GET', `/payment/success?${query}`, undefined, headers);
      attempts.push({
        what: `${who}: success with ${query}`,
        answer: `${status} ${told(body)}`,
        succeeded: status === 200,
      });
    }
    // In open mode everybody is an administrator of payments.
    if (mode === 'open') continue;
    const refund = await rest(url, 'POST', `/payment/refund/${payment}`, { reason: 'user_request' }, headers);
    attempts.push({ what: `${who} refunds`, answer: String(refund.status), succeeded: refund.status < 400 });
  }
  return attempts;
}

async function unpaid({ url, mode, attackers }: World): Promise<Attempt[]> {
  if (mode === 'open') return [];
  const attempts: Attempt[] = [];
  for (const [who, headers] of Object.entries(attackers)) {
    for (const path of ['/templates/execute/poster', '/task']) {
      const { status, body } = await rest(
        url,
        'POST',
        path,
        { templateCode: 'poster', prompt: 'x' },
        headers,
      );
      attempts.push({
        what: `${who}: POST ${path} without a payment`,
        answer: `${status} ${told(body)}`,
        succeeded: status < 400,
      });
    }
  }
  return attempts;
}
