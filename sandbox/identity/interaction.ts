import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

import type Provider from 'oidc-provider';

import { HOUSE_STYLE, houseBar } from '../../platform/pages/house-style.ts';
import { findTestUser, testUsers } from './test-users.ts';

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

/** The pages of the sandbox's identity provider. They load nothing and need no script. */

/** The content security policy of the pages: their own style, and their own form. */
export const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/** The login page: one button per user. */
function loginPage({ client, scope }: { readonly client: string; readonly scope: string }): string {
  const buttons = testUsers.map(
    ({ subject, name, email }) =>
      `<button name="subject" value="${escape(subject)}"><b>${escape(name)}</b><br>${escape(email)}</button>`,
  );
  return page(
    'Sign in (sandbox)',
    `<p><b>${escape(client)}</b> asks for: ${escape(scope)}</p>
<form method="post">${buttons.join('')}<button name="subject" value="">Refuse</button></form>
<p>This is the sandbox's stand-in for an identity provider: these people are invented, and nobody asks for a password.
Set IDP_ISSUER to use a real one.</p>`,
  );
}

/** The error page. */
export function errorPage(what: string): string {
  return page('Sign-in failed (sandbox)', `<p>${escape(what)}</p>`);
}

/** The page that asks whether to sign out; `form` is the provider's form. */
export function logoutPage(form: string): string {
  return page(
    'Sign out (sandbox)',
    `${form}<p>Sign out at the identity provider, too?</p>
<button form="op.logoutForm" name="logout" value="yes">Sign out</button>
<button form="op.logoutForm">Stay signed in</button>`,
  );
}

/** The page after signing out. */
export function signedOutPage(): string {
  return page('Signed out (sandbox)', '<p>You have signed out.</p>');
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(title)}</title>
<style>${HOUSE_STYLE}</style>
${houseBar('Kiln sandbox')}<main><h1>${escape(title)}</h1>${body}</main></html>`;
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
