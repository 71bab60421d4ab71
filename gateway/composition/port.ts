import { type AddressInfo, createServer, type Server } from 'node:net';

import type { Config } from '../../platform/config/config.ts';
import type { Lifecycle } from '../../platform/process/lifecycle.ts';

/** A port of the public server, known before it listens because URLs contain it. */
export interface ReservedPort {
  readonly port: number;
  /** For PORT=0: holds the free port until the public server takes over its socket, so that no other program gets it. */
  readonly holder?: Server;
}

/** The port to listen on; for PORT=0 a free one, which is kept from now on. */
export async function reservePort(
  { host, port }: Pick<Config['server'], 'host' | 'port'>,
  lifecycle: Pick<Lifecycle, 'add'>,
): Promise<ReservedPort> {
  if (port !== 0) return { port };
  const holder = createServer((early) => void early.destroy());
  await new Promise<void>((resolve, reject) => holder.once('error', reject).listen(0, host, resolve));
  lifecycle.add('reserved port', async () => void holder.close());
  return { port: (holder.address() as AddressInfo).port, holder };
}
