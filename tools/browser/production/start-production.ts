import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { sandboxAddresses } from '../../../platform/config/sandbox-addresses.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { createSandbox } from '../../../sandbox/sandbox.ts';
import { freePorts } from '../../../test/kit/processes/free-ports.ts';
import { startKilnProcess, temporaryDataDir } from '../../../test/kit/processes/kiln-process.ts';
import { makeCertificate, openTlsDoor } from './tls-door.ts';

/** A Kiln in production, as browsers meet it. */
export interface ProductionKiln {
  /** PUBLIC_URL, which is https. */
  readonly url: string;
  /** The same without TLS, for programs on this machine. */
  readonly localUrl: string;
  /** Origin of the identity provider: another site to browsers. */
  readonly providerOrigin: string;
  close(): Promise<void>;
}

const root = path.resolve(import.meta.dirname, '../../..');

/**
 * Starts Kiln with NODE_ENV=production behind TLS, and an OpenID Connect provider behind TLS on another host. The sandbox
 * plays the vendors; Kiln is told nothing of it but their addresses.
 */
export async function startProduction(): Promise<ProductionKiln> {
  const parts = new AsyncDisposableStack();
  try {
    return { ...(await startParts(parts)), close: () => parts.disposeAsync() };
  } catch (error) {
    await parts.disposeAsync();
    throw error;
  }
}

async function startParts(parts: AsyncDisposableStack): Promise<Omit<ProductionKiln, 'close'>> {
  // Production builds nothing at its start: an image has the console in it.
  await promisify(execFile)(process.execPath, [path.join(root, 'console/build.ts'), '--if-stale'], {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const { dataDir, remove } = await temporaryDataDir();
  parts.defer(remove);
  const certificate = await makeCertificate(dataDir);
  const [port = 0] = await freePorts(1);
  const door = await openTlsDoor(certificate, () => port);
  parts.defer(() => door.close());
  let sandboxPort = 0;
  const providerDoor = await openTlsDoor(certificate, () => sandboxPort);
  parts.defer(() => providerDoor.close());
  const url = `https://127.0.0.1:${door.port}`;
  const providerOrigin = `https://localhost:${providerDoor.port}`;
  const issuer = `${providerOrigin}/identity`;
  const sandbox = await createSandbox({
    dataDir: path.join(dataDir, 'vendors'),
    identity: { issuer, redirectUris: [`${url}/auth/idp/callback`], postLogoutUris: [`${url}/`] },
    logger: silentLogger(),
  });
  parts.defer(() => sandbox.close());
  sandboxPort = Number(new URL(sandbox.url).port);
  const kiln = await startKilnProcess({
    dataDir,
    settings: {
      NODE_ENV: 'production',
      NODE_EXTRA_CA_CERTS: certificate.file,
      PORT: String(port),
      PUBLIC_URL: url,
      REST_AUTH: 'required',
      RATE_LIMIT: '',
      CONSOLE_BUILD: '',
      INTERNAL_KEY: 'only-for-tests-0123456789abcdef0123456789',
      FILES_URL_TTL: '3600',
      WORKER_GRACE_SECONDS: '5',
      DRAIN_SECONDS: '0',
      IDP_ISSUER: issuer,
      IDP_CLIENT_ID: 'kiln',
      IDP_CLIENT_SECRET: 'kiln-sandbox-client',
      ADMIN_SUBJECTS: `${issuer}|sandbox-admin`,
      ...vendorsAt(sandbox.url),
    },
  });
  parts.defer(() => kiln.stop());
  return { url, localUrl: `http://127.0.0.1:${port}`, providerOrigin };
}

/** Two vendors; the others are not set up, as in many installations. */
function vendorsAt(sandboxUrl: string): Readonly<Record<string, string>> {
  const at = sandboxAddresses(sandboxUrl);
  return {
    MIDJOURNEY_BASE_URL: at.midjourney,
    OPENAI_API_KEY: 'only-for-tests',
    OPENAI_BASE_URL: at.openai,
  };
}
