import { type AddressInfo, createServer } from 'node:net';

import type { Config } from '../../platform/config/config.ts';

/** The port to listen on. For PORT=0 a free one now: URLs contain it before the server listens. */
export async function portOf({ host, port }: Config['server']): Promise<number> {
  if (port !== 0) return port;
  const probe = createServer();
  await new Promise<void>((resolve, reject) => probe.once('error', reject).listen(0, host, resolve));
  const free = (probe.address() as AddressInfo).port;
  await new Promise<void>((resolve) => probe.close(() => resolve()));
  return free;
}
