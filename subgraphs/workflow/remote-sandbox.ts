import { createPrivateKey, createPublicKey } from 'node:crypto';

import { z } from 'zod';

import { AppError } from '../../platform/errors.ts';
import {
  HttpFailure,
  type HttpClient,
  type HttpRequest,
  type HttpResponse,
} from '../../platform/http/http-client.ts';
import type { SandboxStripe, AlipayKeys, SandboxIdentity } from './compose-parts.ts';

/** A sandbox in another process, at SANDBOX_URL. */
export interface RemoteSandbox {
  readonly identity: SandboxIdentity;
  readonly stripe: SandboxStripe;
}

/** The credentials of the stand-in for Stripe (sandbox/stripe); they protect nothing. */
const STRIPE = { secretKey: 'sk_test_kilnsandbox', webhookSecret: 'whsec_kilnsandbox' } as const;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 64 * 1024;

const keysAnswer = z.object({ privateKey: z.string(), platformKey: z.string() });

/** The stand-ins at this address. It is called only when needed, because the sandbox may start later. */
export function remoteSandbox(address: string, http: HttpClient): RemoteSandbox {
  const url = address.replace(/\/+$/, '');
  const issuer = `${url}/identity`;
  const alipay = `${url}/alipay`;
  return {
    identity: {
      issuer,
      url: issuer,
      platforms: {
        wechat: `${url}/wechat`,
        douyin: `${url}/douyin`,
        alipay: { baseUrl: alipay, keys: () => alipayKeys(http, alipay) },
      },
    },
    // Stripe's SDK takes an origin: the stand-in is at /v1 of the sandbox.
    stripe: { ...STRIPE, url, pay: (sessionId) => payCheckout(http, `${url}/stripe/pay/${sessionId}`) },
  };
}

/** The keys change with each start of the sandbox, so they are fetched each time. */
async function alipayKeys(http: HttpClient, baseUrl: string): Promise<AlipayKeys> {
  const { status, body } = await send(http, { method: 'GET', url: `${baseUrl}/keys`, retry: 'safe' });
  if (status !== 200) throw unavailable();
  const { privateKey, platformKey } = keysAnswer.parse(JSON.parse(body.toString('utf8')));
  return { privateKey: createPrivateKey(privateKey), platformKey: createPublicKey(platformKey) };
}

/** Submits the form of a checkout's page. A checkout that is over answers 410, which is ignored. */
async function payCheckout(http: HttpClient, page: string): Promise<void> {
  const { status } = await send(http, {
    method: 'POST',
    url: page,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'do=card',
    retry: 'never',
  });
  if (status !== 303 && status !== 410) throw unavailable();
}

async function send(
  http: HttpClient,
  request: Omit<HttpRequest, 'timeoutMs' | 'maxBytes'>,
): Promise<HttpResponse> {
  const trustedOrigins = [new URL(request.url).origin];
  try {
    return await http.request({ ...request, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, trustedOrigins });
  } catch (error) {
    if (error instanceof HttpFailure) throw unavailable(error);
    throw error;
  }
}

function unavailable(cause?: unknown): AppError {
  const options = { retryAfter: 5, ...(cause === undefined ? {} : { cause }) };
  return new AppError('UNAVAILABLE', 'the sandbox at SANDBOX_URL gives no usable answer', options);
}
