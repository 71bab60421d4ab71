import { createHmac } from 'node:crypto';

import type { WebhookEndpoint } from './endpoint-store.ts';

/** Hours that the secret before the last rotation still signs. */
const OLD_SECRET_HOURS = 24;

/** The secret of one version of an endpoint: derived from the installation's, so that none is stored. */
export function endpointSecret(
  installation: string,
  { id, secretVersion }: Pick<WebhookEndpoint, 'id' | 'secretVersion'>,
): string {
  const derived = createHmac('sha256', installation).update(`endpoint\0${id}\0${secretVersion}`);
  return `whsec_${derived.digest('base64')}`;
}

/** What signs a message to an endpoint: its secret, and for a day after a rotation the one before. */
export function signingSecrets(
  installation: string,
  endpoint: WebhookEndpoint,
  now: Date,
): readonly string[] {
  const { rotatedAt, secretVersion } = endpoint;
  const current = endpointSecret(installation, endpoint);
  const isRecent = rotatedAt !== null && now.getTime() - rotatedAt.getTime() < OLD_SECRET_HOURS * 3_600_000;
  if (!isRecent) return [current];
  return [current, endpointSecret(installation, { ...endpoint, secretVersion: secretVersion - 1 })];
}
