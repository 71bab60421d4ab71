import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Small files at addresses of their own, for upstreams that fetch their inputs. */

const FILES = {
  image: ['poster.jpg', 'image/jpeg'],
  speech: ['speech.mp3', 'audio/mpeg'],
  clip: ['clip.mp4', 'video/mp4'],
} as const;

export type InputKind = keyof typeof FILES;

/** Serves them at /<kind>; everything else is not there. */
export async function serveInputs(): Promise<{ readonly origin: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const kind = request.url?.slice(1) ?? '';
    const [name, type] = Object.hasOwn(FILES, kind) ? FILES[kind as InputKind] : [];
    if (name === undefined || type === undefined) {
      response.writeHead(404).end();
      return;
    }
    readFile(new URL(`../../../sandbox/studio/instant/${name}`, import.meta.url)).then(
      (bytes) => response.writeHead(200, { 'content-type': type }).end(bytes),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
