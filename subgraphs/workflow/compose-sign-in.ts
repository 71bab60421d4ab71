import type { Config } from '../../platform/config.ts';
import type { IdentityProviderSettings } from './sign-in/identity-provider.ts';
import type { SignInOptions } from './sign-in/services.ts';

/** The sandbox's identity provider: what browsers call it, and where this process reaches it. */
export interface SandboxIdentity {
  readonly issuer: string;
  readonly url: string;
}

/** The client that Kiln is at the sandbox's identity provider; the secret guards nothing there. */
const SANDBOX_CLIENT = { clientId: 'kiln', clientSecret: 'kiln-sandbox-client' } as const;

/** Who may sign in and how, as the settings say: a real identity provider, else the sandbox's, else none. */
export function composeSignIn(
  { auth }: Pick<Config, 'auth'>,
  { publicUrl, sandbox }: { readonly publicUrl: string; readonly sandbox: SandboxIdentity | null },
): Pick<SignInOptions, 'admins' | 'provider' | 'platforms' | 'redirects'> {
  return {
    admins: auth.adminSubjects,
    provider: sandbox === null ? null : sandboxProvider(sandbox, publicUrl),
    platforms: [],
    redirects: [],
  };
}

function sandboxProvider({ issuer, url }: SandboxIdentity, publicUrl: string): IdentityProviderSettings {
  return {
    issuer,
    ...SANDBOX_CLIENT,
    callbackUrl: `${publicUrl}/auth/idp/callback`,
    endpoints: null,
    audiences: [],
    reachedAt: url,
  };
}
