import { expect } from 'vitest';

import { createBrowser } from '../kit/clients/browser.ts';
import { graphql, until, type GraphqlAnswer } from '../kit/clients/requests.ts';
import { signedIn } from '../kit/clients/sign-in.ts';

/** A person who signs in, buys and looks, over the API of a Kiln whose sandbox is another process. */
export interface Buyer {
  readonly userId: string;
  /** What goes along with each of their requests. */
  readonly headers: { readonly authorization: string };
  checkout(templateCode: string): Promise<OpenCheckout>;
  /** What the page of success asks for when a browser comes back; answers the status. */
  comeBack(opened: OpenCheckout): Promise<string>;
  payment(id: string): Promise<GraphqlAnswer>;
  /** Waits for the end of what was bought. */
  delivered(id: string): Promise<GraphqlAnswer>;
}

interface OpenCheckout {
  readonly url: string;
  readonly sessionId: string;
  readonly payment: { readonly id: string; readonly status: string };
}

/** Signs in at the login page of the sandbox. */
export async function signInBuyer(kilnUrl: string): Promise<Buyer> {
  const { access_token: token, user } = await signedIn(kilnUrl);
  const userId = user.id;
  const headers = { authorization: `Bearer ${token}` };
  const ask = async (query: string, variables: Readonly<Record<string, unknown>>) => {
    const answer = await graphql(kilnUrl, query, variables, headers);
    expect(answer.errors).toBeUndefined();
    return answer;
  };
  const payment = (id: string) => ask(PAYMENT, { id });
  return {
    userId,
    headers,
    async checkout(templateCode) {
      const parameters = { prompt: `a ferry, as a ${templateCode}` };
      const { data } = await ask(CHECKOUT, { templateCode, userId, parameters });
      return data.checkout as OpenCheckout;
    },
    async comeBack({ payment: { id }, sessionId }) {
      const { data } = await ask(RECONCILE, { id, sessionId });
      return data.reconcilePayment.status as string;
    },
    payment,
    delivered: (id) =>
      until(
        () => payment(id),
        ({ data }) => data.payment.execution?.status === 'COMPLETED',
      ),
  };
}

/** Presses a button on the hosted page of a checkout; answers where the browser is sent. */
export async function submitForm({ url }: Pick<OpenCheckout, 'url'>, button: string): Promise<string | null> {
  const answer = await createBrowser().open(url, { form: { do: button } });
  expect(answer.status).toBe(303);
  return answer.headers.get('location');
}

const CHECKOUT = `
  mutation ($templateCode: ID!, $userId: ID!, $parameters: JSON!) {
    checkout(templateCode: $templateCode, userId: $userId, parameters: $parameters) {
      url
      sessionId
      payment { id status }
    }
  }`;

const RECONCILE = `
  mutation ($id: ID, $sessionId: String) {
    reconcilePayment(id: $id, sessionId: $sessionId) { status }
  }`;

const PAYMENT = `
  query ($id: ID!) {
    payment(id: $id) {
      status
      userId
      execution { id status task { state outputs { url contentType } } }
    }
  }`;
