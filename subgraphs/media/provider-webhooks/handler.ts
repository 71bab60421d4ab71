import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { toError } from '../../../platform/errors.ts';
import { readRequestBody } from '../../../platform/http/server.ts';
import type { JsonObject } from '../../../platform/json.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import { UpstreamError } from '../domain/failure.ts';
import { isPublicHttps } from '../domain/public-https.ts';
import type { Binding, GeneratorRegistry, PlacedAttempt } from '../generators/bindings/binding.ts';
import type { ProviderWebhook } from '../providers/contract/provider.ts';
import type { RunningAttempts } from '../tasks/running-attempts.ts';
import type { WakeUps } from './wake-ups.ts';

/** Answers one webhook of an upstream. */
export type ProviderWebhookHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export interface ProviderWebhookHandlerOptions {
  readonly attempts: Pick<RunningAttempts, 'find'>;
  readonly registry: GeneratorRegistry;
  readonly addresses: ProviderWebhookAddresses;
  readonly wakeUps: WakeUps;
  readonly logger: Logger;
}

/** Most webhooks handled at once; further ones are answered 503. */
const MAX_OPEN = 64;
/** Longest wait for a vendor's keys. */
const CHECK_TIMEOUT_MS = 10_000;

interface Reply {
  readonly status: number;
  readonly body?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * POST /hooks/{provider}: an upstream says that something happened. Its address must be one that we made, and where the
 * vendor signs, it must be signed. Then the attempt is polled at once; the body is never believed. The answer is the
 * same whether there is such an attempt or not. Mount it at the root.
 */
export function createProviderWebhookHandler(options: ProviderWebhookHandlerOptions): ProviderWebhookHandler {
  let open = 0;
  return async (request, response) => {
    if (open >= MAX_OPEN) return reply(response, { status: 503, headers: { 'retry-after': '1' } });
    open += 1;
    try {
      reply(response, await answer(options, request));
    } finally {
      open -= 1;
    }
  };
}

async function answer(options: ProviderWebhookHandlerOptions, request: IncomingMessage): Promise<Reply> {
  const { registry, addresses, wakeUps, logger } = options;
  const url = URL.parse(request.url ?? '/', 'http://kiln');
  const [, name = ''] = /\/hooks\/([\w-]+)\/?$/.exec(url?.pathname ?? '') ?? [];
  const fallback = registry.all().find(({ provider }) => provider.name === name);
  if (url === null || fallback === undefined) return { status: 404, body: { error: 'no such provider' } };
  if (request.method !== 'POST') return { status: 405, headers: { allow: 'POST' } };
  const reference = addresses.readReference(name, url.searchParams);
  if (reference === null) return REFUSED;
  const webhook = await readWebhook(request);
  if (webhook === null) return { status: 413, headers: { connection: 'close' } };
  const challenge = fallback.provider.answerChallenge?.(webhook) ?? null;
  if (challenge !== null) return { status: 200, body: challenge };
  const attempt = await options.attempts.find(reference);
  const binding = attempt && findBinding(registry, attempt.place, name);
  const verdict = await isGenuine(binding ?? fallback, webhook, logger);
  if (verdict === 'unknowable') return { status: 503, headers: { 'retry-after': '30' } };
  if (verdict === 'forged') return REFUSED;
  if (attempt !== null && binding !== null) wakeUps.wake(attempt.key);
  return { status: 202 };
}

const REFUSED: Reply = { status: 401, body: { error: 'this webhook is not signed as it must be' } };

/** The binding of an attempt, when it is one of this provider. */
function findBinding(registry: GeneratorRegistry, place: PlacedAttempt, provider: string): Binding | null {
  const binding = registry.ofAttempt(place);
  return binding?.provider.name === provider ? binding : null;
}

async function isGenuine(
  { provider, connection }: Binding,
  webhook: ProviderWebhook,
  logger: Logger,
): Promise<'genuine' | 'forged' | 'unknowable'> {
  if (provider.verifyWebhook === undefined) return 'genuine';
  try {
    const context = { connection, signal: AbortSignal.timeout(CHECK_TIMEOUT_MS) };
    return (await provider.verifyWebhook(webhook, context)) ? 'genuine' : 'forged';
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    logger.warn(
      { error: toError(error), provider: provider.name },
      'a provider webhook could not be checked',
    );
    return 'unknowable';
  }
}

function reply(response: ServerResponse, { status, body, headers = {} }: Reply): void {
  if (response.destroyed) return;
  const text = body === undefined ? '' : JSON.stringify(body);
  const type = body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' };
  response.writeHead(status, { 'cache-control': 'no-store', ...type, ...headers }).end(text);
}

/** Largest webhook in bytes. */
const MAX_BYTES = 1024 * 1024;

/** A request whose body may have been read already. */
type WebhookRequest = IncomingMessage & { readonly body?: unknown };

/** A provider webhook as it came in, its body byte for byte; null when it is too large. */
async function readWebhook(request: WebhookRequest): Promise<ProviderWebhook | null> {
  const body = Buffer.isBuffer(request.body) ? request.body : await readRequestBody(request, MAX_BYTES);
  if (body === null) return null;
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? (value.at(-1) ?? '') : (value ?? ''),
    ]),
  );
  return { headers, body };
}

/** The addresses of provider webhooks: each carries its attempt, and a MAC that proves that we made it. */
type ProviderWebhookAddresses = ReturnType<typeof createProviderWebhookAddresses>;

interface ProviderWebhookAddressOptions {
  /** PUBLIC_URL without a trailing slash. */
  readonly publicUrl: string;
  /** The same in every process and after a restart; the MAC's key is derived from it. */
  readonly secret: string;
}

/** Never changes: running attempts have addresses that were made with it. */
const KEY_LABEL = 'addresses of notices';

/** Makes the addresses below PUBLIC_URL. */
export function createProviderWebhookAddresses({ publicUrl, secret }: ProviderWebhookAddressOptions) {
  const key = createHmac('sha256', secret).update(KEY_LABEL).digest();
  const isReachable = isPublicHttps(publicUrl);
  const computeMac = (provider: string, reference: string): Buffer =>
    createHmac('sha256', key).update(`${provider}\n${reference}`).digest();
  return {
    /** The address for one start; undefined where its upstream could not reach us. */
    addressFor: (
      {
        provider: { name },
        sandbox,
      }: { readonly provider: Pick<Binding['provider'], 'name'>; readonly sandbox: boolean },
      reference: string,
    ): string | undefined => {
      // The sandbox is on this machine, whatever our address is.
      if (!isReachable && !sandbox) return undefined;
      const mac = computeMac(name, reference).toString('base64url');
      return `${publicUrl}/hooks/${name}?attempt=${encodeURIComponent(reference)}&mac=${mac}`;
    },
    /** The reference that an address carries; null when we did not make it. */
    readReference(provider: string, query: URLSearchParams): string | null {
      const reference = query.get('attempt') ?? '';
      const received = Buffer.from(query.get('mac') ?? '', 'base64url');
      const mac = computeMac(provider, reference);
      return received.length === mac.length && timingSafeEqual(received, mac) ? reference : null;
    },
  };
}
