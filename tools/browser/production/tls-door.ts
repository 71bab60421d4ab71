import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, type Socket } from 'node:net';
import path from 'node:path';
import { createServer } from 'node:tls';
import { promisify } from 'node:util';

/** What stands before a server in production: TLS, with a certificate of our own for this machine. */

/** A private key and the certificate of 127.0.0.1 and localhost that belongs to it. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
  /** The certificate's file, for NODE_EXTRA_CA_CERTS. */
  readonly file: string;
}

/** Makes a certificate that is good for a day, by the `openssl` on the PATH. */
export async function makeCertificate(folder: string): Promise<Certificate> {
  const keyFile = path.join(folder, 'key.pem');
  const file = path.join(folder, 'certificate.pem');
  const words = 'req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost'.split(' ');
  const names = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  await promisify(execFile)('openssl', [...words, ...names, '-keyout', keyFile, '-out', file]);
  const [key, cert] = await Promise.all([readFile(keyFile, 'utf8'), readFile(file, 'utf8')]);
  return { key, cert, file };
}

/** A TLS listener on loopback that hands every connection on as it is. */
export interface TlsDoor {
  readonly port: number;
  close(): Promise<void>;
}

/** Opens it on a free port; `target` is asked for the port behind it with each connection. */
export async function openTlsDoor({ key, cert }: Certificate, target: () => number): Promise<TlsDoor> {
  const open = new Set<Socket>();
  const keep = (socket: Socket): void => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  };
  const server = createServer({ key, cert }, (outside) => {
    const inside = connect(target(), '127.0.0.1');
    for (const [socket, other] of [
      [outside, inside],
      [inside, outside],
    ] as const) {
      keep(socket);
      socket.once('error', () => other.destroy());
      socket.once('close', () => other.destroy());
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
