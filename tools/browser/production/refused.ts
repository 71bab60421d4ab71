import type { Response } from 'playwright-core';

import { graphql } from '../../../test/kit/clients/requests.ts';
import type { Steps } from '../steps.ts';

/** What the pages of administrators ask and do, as a program would; each is refused before its arguments are looked at. */
const OPERATIONS: readonly string[] = [
  '{ users { edges { cursor } } }',
  '{ auditEntries { edges { node { what } } } }',
  '{ serviceKeys { id } }',
  '{ userSessions(userId: "usr_of_nobody") { id } }',
  '{ providerHealth { binding } }',
  '{ comfyServers { address } }',
  '{ budgets { id } }',
  '{ webhookEndpoints { id } }',
  '{ catalogState { synced } }',
  '{ unrunnableTemplates { reason } }',
  'mutation { createServiceKey(name: "mine", scopes: ["admin"]) { secret } }',
  'mutation { revokeServiceKey(id: "key_of_nobody") { id } }',
  'mutation { rotateServiceKey(id: "key_of_nobody") { secret } }',
  'mutation { endUserSessions(userId: "usr_of_nobody") }',
  'mutation { pauseBinding(binding: "imga") { binding } }',
  'mutation { createBudget(scope: TOTAL, input: { name: "mine" }) { id } }',
  'mutation { createTemplate(input: { code: "mine", name: "Mine" }) { code } }',
  'mutation { changeTemplates(codes: ["poster"], operation: DEACTIVATE) { successful } }',
  'mutation { deleteTemplate(code: "poster") }',
  'mutation { refundPayment(id: "pay_of_nobody", reason: USER_REQUEST) { id } }',
];

/** Sends them with the token of a user who is no administrator. */
export async function refusedAsUser(url: string, token: string, { holds }: Steps): Promise<void> {
  for (const operation of OPERATIONS) {
    const { errors } = await graphql(url, operation, {}, { authorization: `Bearer ${token}` });
    const codes = errors?.map(({ extensions }) => extensions['code']);
    holds(`production: the server refuses to a user ${readName(operation)}`, codes, ['FORBIDDEN']);
  }
}

function readName(operation: string): string {
  return /\{ (\w+)/.exec(operation)?.[1] ?? operation;
}

/** The access token of an answer to a page of the console. */
export async function readToken(response: Response): Promise<string> {
  const { data } = (await response.json()) as { readonly data: { readonly access_token: string } };
  return data.access_token;
}
