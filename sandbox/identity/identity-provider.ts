import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { exportJWK, generateKeyPair } from 'jose';
import { LRUCache } from 'lru-cache';
import {
  Provider,
  type ClientMetadata,
  type Configuration,
  type KoaContextWithOIDC,
  type Adapter,
  type AdapterFactory,
  type AdapterPayload,
} from 'oidc-provider';

import { toError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { createInteraction, errorPage, logoutPage, PAGE_POLICY, signedOutPage } from './interaction.ts';
import { findTestUser } from './test-users.ts';

/**
 * The sandbox's identity provider: a certified OpenID Connect server (oidc-provider) with a login page of test users. Its
 * keys and sessions are in memory; after a restart users sign in again.
 */
export interface IdentityStandIn {
  readonly issuer: string;
  /** Answers a request; its URL begins behind the issuer's path. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export interface IdentityOptions {
  /** Its public address, without a trailing slash. */
  readonly issuer: string;
  /** Redirect addresses of its only client. */
  readonly redirectUris: readonly string[];
  readonly postLogoutUris: readonly string[];
  /** Whether loopback redirects may have any port: Kiln may listen on a free one. */
  readonly anyLoopbackPort?: boolean;
  readonly logger: Logger;
}

/** Kiln's client. The secret protects nothing. */
const IDENTITY_CLIENT = { id: 'kiln', secret: 'kiln-sandbox-client' } as const;

const DAY = 86_400;

/** Creates the provider. */
export async function createIdentityStandIn(options: IdentityOptions): Promise<IdentityStandIn> {
  const { issuer, logger } = options;
  const provider = new Provider(issuer, await makeConfiguration(options));
  // The forwarded headers are set in `handle` from the issuer's address.
  provider.proxy = true;
  provider.on('server_error', (_, error) =>
    logger.error({ error: toError(error) }, 'the identity stand-in failed'),
  );
  const callback = provider.callback();
  const interaction = createInteraction(provider);
  const place = new URL(issuer);
  return {
    issuer,
    async handle(request, response) {
      // The discovery document and the cookies depend on these; the request's Host is not reliable.
      request.headers['x-forwarded-host'] = place.host;
      request.headers['x-forwarded-proto'] = place.protocol.slice(0, -1);
      Object.assign(request, { originalUrl: `${place.pathname.replace(/\/$/, '')}${request.url ?? '/'}` });
      response.setHeader('x-content-type-options', 'nosniff');
      if (request.url?.startsWith('/interaction/') === true) return interaction(request, response);
      await callback(request, response);
    },
  };
}

async function makeConfiguration(options: IdentityOptions): Promise<Configuration> {
  const { issuer } = options;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' };
  return {
    adapter: createStorage(),
    jwks: { keys: [key] },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    clients: [toClientMetadata(options)],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    // The profile is in the ID token too, as at large providers.
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    findAccount: (_, subject) => {
      const person = findTestUser(subject);
      if (person === undefined) return undefined;
      const { name, email } = person;
      return {
        accountId: subject,
        claims: async () => ({ sub: subject, name, email, email_verified: true }),
      };
    },
    features: {
      devInteractions: { enabled: false },
      revocation: {
        enabled: true,
        allowedPolicy: async (_, client, token) => token.clientId === client.clientId,
      },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: async (context, form) => show(context, logoutPage(form)),
        postLogoutSuccessSource: async (context) => show(context, signedOutPage()),
      },
    },
    interactions: {
      url: (_, { uid }) => `${new URL(issuer).pathname.replace(/\/$/, '')}/interaction/${uid}`,
    },
    issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    renderError: async (context, out) => show(context, errorPage(out.error_description ?? out.error)),
    ttl: {
      AccessToken: 3_600,
      AuthorizationCode: 60,
      Grant: 14 * DAY,
      IdToken: 3_600,
      Interaction: 600,
      RefreshToken: 14 * DAY,
      Session: DAY,
    },
  };
}

function toClientMetadata({
  redirectUris,
  postLogoutUris,
  anyLoopbackPort = false,
}: IdentityOptions): ClientMetadata {
  return {
    client_id: IDENTITY_CLIENT.id,
    client_secret: IDENTITY_CLIENT.secret,
    redirect_uris: [...redirectUris],
    post_logout_redirect_uris: [...postLogoutUris],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    // RFC 8252, 7.3.
    application_type: anyLoopbackPort ? 'native' : 'web',
  };
}

function show(context: KoaContextWithOIDC, html: string): void {
  context.set('content-security-policy', PAGE_POLICY);
  context.type = 'html';
  context.body = html;
}

/** Most entries that are stored. */
const MAX_KEPT = 10_000;

interface Entry {
  readonly payload: AdapterPayload;
  isConsumed: boolean;
}

/** The storage of the identity provider (codes, tokens, sessions): in memory and bounded. */
function createStorage(): AdapterFactory {
  const stored = new LRUCache<string, Entry>({ max: MAX_KEPT });
  return (model) => createStore(stored, model);
}

function createStore(stored: LRUCache<string, Entry>, model: string): Adapter {
  const toKey = (id: string) => `${model}:${id}`;
  const found = (entry: Entry | undefined): AdapterPayload | undefined =>
    entry && { ...entry.payload, ...(entry.isConsumed ? { consumed: true } : {}) };
  const first = (matches: (payload: AdapterPayload) => boolean) =>
    found(
      [...stored.entries()].find(
        ([key, { payload }]) => key.startsWith(`${model}:`) && matches(payload),
      )?.[1],
    );
  return {
    async upsert(id, payload, expiresIn) {
      const ttl = expiresIn !== undefined && expiresIn > 0 ? { ttl: expiresIn * 1000 } : {};
      stored.set(toKey(id), { payload, isConsumed: false }, ttl);
    },
    find: async (id) => found(stored.get(toKey(id))),
    findByUid: async (uid) => first((payload) => payload.uid === uid),
    findByUserCode: async (userCode) => first((payload) => payload.userCode === userCode),
    async consume(id) {
      const entry = stored.get(toKey(id));
      if (entry !== undefined) entry.isConsumed = true;
    },
    destroy: async (id) => void stored.delete(toKey(id)),
    async revokeByGrantId(grantId) {
      for (const [key, { payload }] of stored.entries()) if (payload.grantId === grantId) stored.delete(key);
    },
  };
}
