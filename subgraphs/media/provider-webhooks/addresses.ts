import { createHmac, timingSafeEqual } from 'node:crypto';

import { isPublicHttps } from '../domain/public-https.ts';
import type { Binding } from '../generators/bindings/binding.ts';

/** The addresses of provider webhooks: each carries its attempt, and a MAC that proves that we made it. */
export interface ProviderWebhookAddresses {
  /** The address for one start; undefined where its upstream could not reach us. */
  readonly addressFor: (
    binding: { readonly provider: Pick<Binding['provider'], 'name'>; readonly sandbox: boolean },
    reference: string,
  ) => string | undefined;
  /** The reference that an address carries; null when we did not make it. */
  readonly referenceOf: (provider: string, query: URLSearchParams) => string | null;
}

export interface ProviderWebhookAddressOptions {
  /** PUBLIC_URL without a trailing slash. */
  readonly publicUrl: string;
  /** The same in every process and after a restart; the MAC's key is derived from it. */
  readonly secret: string;
}

/** Never changes: running attempts have addresses that were made with it. */
const KEY_LABEL = 'addresses of notices';

/** Makes the addresses below PUBLIC_URL. */
export function createProviderWebhookAddresses({
  publicUrl,
  secret,
}: ProviderWebhookAddressOptions): ProviderWebhookAddresses {
  const key = createHmac('sha256', secret).update(KEY_LABEL).digest();
  const isReachable = isPublicHttps(publicUrl);
  const macOf = (provider: string, reference: string): Buffer =>
    createHmac('sha256', key).update(`${provider}\n${reference}`).digest();
  return {
    addressFor({ provider: { name }, sandbox }, reference) {
      // The sandbox is on this machine, whatever our address is.
      if (!isReachable && !sandbox) return undefined;
      const mac = macOf(name, reference).toString('base64url');
      return `${publicUrl}/hooks/${name}?attempt=${encodeURIComponent(reference)}&mac=${mac}`;
    },
    referenceOf(provider, query) {
      const reference = query.get('attempt') ?? '';
      const received = Buffer.from(query.get('mac') ?? '', 'base64url');
      const mac = macOf(provider, reference);
      return received.length === mac.length && timingSafeEqual(received, mac) ? reference : null;
    },
  };
}
