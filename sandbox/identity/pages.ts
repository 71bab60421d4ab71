import { HOUSE_STYLE, houseBar } from '../../platform/pages/house-style.ts';
import { testUsers } from './test-users.ts';

/** The pages of the sandbox's identity provider. They load nothing and need no script. */

/** The content security policy of the pages: their own style, and their own form. */
export const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/** The login page: one button per user. */
export function loginPage({ client, scope }: { readonly client: string; readonly scope: string }): string {
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
