import type { CallContext, RemoteFile } from '../contract/provider.ts';
import { addressOf } from '../shared/exchange.ts';

/** A file at Google: downloading it needs our key when it is at our own upstream; the key goes nowhere else. */
export function downloadOf(url: string, { connection }: CallContext): RemoteFile[] {
  if (!URL.canParse(url)) return [];
  const { origin } = new URL(addressOf(connection, ''));
  return [new URL(url).origin === origin ? { url, headers: connection.headers } : { url }];
}
