import { graphql, rest } from '../../../test/kit/clients/requests.ts';
import { type AttackClass, told } from '../attack.ts';

/** Whoever knows the name of a buyer who never signed in learns no secret of their purchase, and ends nothing. */
export const names: AttackClass = {
  name: 'names of buyers',
  modes: ['compat', 'split'],
  isQuick: true,
  async run({ url }) {
    const userId = 'customer-9';
    const bought = await rest(url, 'POST', '/payment/checkout/poster', {
      userId,
      metadata: { prompt: 'secret words' },
    });
    const { sessionId, paymentId: id } = bought.body.data;
    const asked: Record<string, unknown> = {
      history: (await rest(url, 'GET', `/payment/history?userId=${userId}`)).body,
      payment: (await rest(url, 'GET', `/payment/${id}`)).body,
      success: (await rest(url, 'GET', `/payment/success?payment_id=${id}`)).body,
      cancel: (await rest(url, 'GET', `/payment/cancel?payment_id=${id}`)).body,
      executions: (await rest(url, 'GET', `/templates/executions/user/${userId}`)).body,
      list: await graphql(
        url,
        'query ($userId: ID!) { payments(userId: $userId) { edges { node { ppSessionId taskId execution { id } } } } }',
        { userId },
      ),
    };
    const attempts = Object.entries(asked).map(([what, answer]) => {
      const text = JSON.stringify(answer);
      return {
        what,
        answer: told(answer),
        succeeded: text.includes(sessionId) || text.includes('secret words'),
      };
    });
    const refund = await rest(url, 'POST', `/payment/refund/${id}`, { reason: 'user_request' });
    attempts.push({ what: 'refund', answer: String(refund.status), succeeded: refund.status < 400 });
    const { status } = (await rest(url, 'GET', `/payment/${id}`)).body.data;
    attempts.push({ what: 'ending the checkout by its id', answer: status, succeeded: status !== 'pending' });
    return attempts;
  },
};
