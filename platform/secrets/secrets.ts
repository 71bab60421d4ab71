import { randomBytes, createHash } from 'node:crypto';
import { mkdir, open, readFile, link, rm } from 'node:fs/promises';
import path from 'node:path';

import type { Config } from '../config/config.ts';

/** A secret kept in the data directory. */
interface LocalSecret {
  /** 64 hexadecimal digits. */
  readonly secret: string;
  /** True when it was created by this call. */
  readonly isNew: boolean;
}

/** Creates a secret at the first start and keeps it in the data directory, readable by its user only. */
export async function localSecret({
  directory,
  name,
}: {
  readonly directory: string;
  /** File name, such as `service-key`. */
  readonly name: string;
}): Promise<LocalSecret> {
  const file = path.join(directory, name);
  const stored = await readSecret(file);
  if (stored !== null) return { secret: stored, isNew: false };
  await mkdir(directory, { recursive: true });
  const secret = randomBytes(32).toString('hex');
  const isNew = await writeOnce(file, secret);
  return { secret: isNew ? secret : ((await readSecret(file)) ?? secret), isNew };
}

async function readSecret(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text !== null && !/^[0-9a-f]{64}$/.test(text))
    throw new Error(`${file} does not hold a secret: remove it`);
  return text;
}

/** Linking fails when the name exists, so of two processes that start together one creates it and both use it. */
async function writeOnce(file: string, secret: string): Promise<boolean> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await using handle = await open(temporary, 'wx', 0o600);
    await handle.writeFile(secret);
    await handle.sync();
    await link(temporary, file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

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
