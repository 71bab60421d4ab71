import { createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';

/** How two processes of Kiln agree on a channel: an HTTP upgrade, and a key of the connection that nobody else can know. */

/** The path that is upgraded. A process that knows no channels refuses it, and is asked over HTTP. */
export const CHANNEL_PATH = '/channel';
/** The protocol's name and version in the header `Upgrade`. */
export const CHANNEL_PROTOCOL = 'kiln-channel-1';
/** The method in the assertion of a channel, whose body is the nonce of who asks. */
export const CHANNEL_METHOD = 'CHANNEL';
/** The header that carries the nonce of each side. */
export const NONCE_HEADER = 'x-kiln-nonce';

/** A nonce of one side. */
export function newNonce(): string {
  return randomBytes(24).toString('base64url');
}

/** The key that signs what is asked over one connection: of INTERNAL_KEY, the subgraph's name and the nonces of both sides. */
export function connectionKey(
  internalKey: string,
  facts: { readonly audience: string; readonly asking: string; readonly answering: string },
): KeyObject {
  const { audience, asking, answering } = facts;
  const words = JSON.stringify([CHANNEL_PROTOCOL, audience, asking, answering]);
  return createSecretKey(createHmac('sha256', internalKey).update(words).digest());
}
