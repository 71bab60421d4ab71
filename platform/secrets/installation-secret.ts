import { createHash } from 'node:crypto';

import type { Config } from '../config/config.ts';
import { localSecret } from './local-secret.ts';

/**
 * A secret for one purpose, the same in every process of an installation and after a restart: derived from INTERNAL_KEY
 * where that is set, else kept in the data directory under the purpose's name.
 */
export async function installationSecret(
  { split, data }: Pick<Config, 'split' | 'data'>,
  /** File name in the data directory, such as `file-secret`. */
  name: string,
): Promise<string> {
  if (split.internalKey !== null) {
    return createHash('sha256').update(`${name}\0${split.internalKey}`).digest('hex');
  }
  return (await localSecret({ directory: data.dir, name })).secret;
}

/**
 * The secret that signs result webhooks, in the format of Standard Webhooks (`whsec_` and base64): WEBHOOK_SECRET, else
 * a secret of the installation.
 */
export async function webhookSecret(config: Pick<Config, 'split' | 'data' | 'webhooks'>): Promise<string> {
  if (config.webhooks.secret !== null) return config.webhooks.secret;
  const made = await installationSecret(config, 'webhook-secret');
  return `whsec_${Buffer.from(made, 'hex').toString('base64')}`;
}
