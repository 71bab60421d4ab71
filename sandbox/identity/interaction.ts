import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

import type Provider from 'oidc-provider';

import { errorPage, loginPage, PAGE_POLICY } from './pages.ts';
import { findTestUser } from './test-users.ts';

const MAX_FORM = 10_000;

/** The login page. Consent is granted without a second page. */
export function createInteraction(
  provider: Provider,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    let details;
    try {
      details = await provider.interactionDetails(request, response);
    } catch {
      return send(response, 400, errorPage('This sign-in has ended: go back and begin again.'));
    }
    const { prompt, params } = details;
    if (prompt.name === 'consent') return grant(provider, details, { request, response });
    if (request.method === 'POST') return logIn(provider, request, response);
    send(
      response,
      200,
      loginPage({ client: readText(params['client_id']), scope: readText(params['scope']) }),
    );
  };
}

async function logIn(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (Number(request.headers['content-length'] ?? Infinity) > MAX_FORM) {
    return send(response, 413, errorPage('This form is too large.'));
  }
  const form = new URLSearchParams((await buffer(request)).toString('utf8'));
  const subject = form.get('subject') ?? '';
  const result =
    findTestUser(subject) === undefined
      ? { error: 'access_denied', error_description: 'refused on the login page' }
      : { login: { accountId: subject } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

async function grant(
  provider: Provider,
  { grantId, params, session, prompt }: Awaited<ReturnType<Provider['interactionDetails']>>,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant =
    known ??
    new provider.Grant({
      clientId: readText(params['client_id']),
      ...(session === undefined ? {} : { accountId: session.accountId }),
    });
  const missing = prompt.details as {
    readonly missingOIDCScope?: string[];
    readonly missingOIDCClaims?: string[];
  };
  if (missing.missingOIDCScope) grant.addOIDCScope(missing.missingOIDCScope.join(' '));
  if (missing.missingOIDCClaims) grant.addOIDCClaims(missing.missingOIDCClaims);
  const result = { consent: { grantId: await grant.save() } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

function send(response: ServerResponse, status: number, html: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': PAGE_POLICY,
    'cache-control': 'no-store',
  });
  response.end(html);
}

function readText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
