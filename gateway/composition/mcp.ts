import type { McpFace } from '../../faces/mcp/face.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { HttpFailure } from '../../platform/http/http-client.ts';
import { createOutboundRule } from '../../platform/http/safe-url.ts';
import { createHttpClient } from '../../platform/http/undici-http-client.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import type { FederatedExecutor } from '../federation/federation.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import { contextOf } from '../request/request-context.ts';
import type { ReservedPort } from './port.ts';
import { forRest } from './rest-sections.ts';

/** What the MCP face works with. */
export interface McpParts {
  readonly federation: FederatedExecutor;
  readonly rateLimiter: RateLimiter | undefined;
  readonly stopping: AbortSignal;
  readonly publicUrl: string;
  readonly reserved: ReservedPort;
}

/** Milliseconds for a thumbnail, which may have to be made first. */
const FILE_TIMEOUT_MS = 10_000;

/** Makes the MCP face, where it is on and the supergraph is Kiln's. Its SDK is loaded only then. */
export async function composeMcp(parts: ProcessParts, options: McpParts): Promise<McpFace | undefined> {
  const { config, logger } = parts;
  const { federation, rateLimiter, stopping, publicUrl } = options;
  const { provider } = config.signIn;
  if (!config.mcp.on || config.split.isOtherGraph) return undefined;
  const { createMcpFace } = await import('../../faces/mcp/face.ts');
  return createMcpFace({
    executor: forRest(federation),
    contextFor: contextOf,
    rates: rateLimiter,
    readFile: createFileReader(parts, options),
    stopping,
    settings: {
      publicUrl,
      version: packageJson.version,
      authMode: config.auth.mode,
      issuer: provider?.jwks == null ? null : provider.issuer,
      corsOrigins: config.server.corsOrigins,
      taskRetentionDays: config.files.taskRetentionDays,
    },
    logger: logger.part('gateway'),
  });
}

/** Reads files through this server's own port: PUBLIC_URL may be known to others alone. */
function createFileReader({ config, logger, lifecycle }: ProcessParts, { publicUrl, reserved }: McpParts) {
  const { host } = config.server;
  const isAnywhere = host === '0.0.0.0' || host === '::';
  const own = `http://${isAnywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${reserved.port}`;
  const http = createHttpClient({ outbound: createOutboundRule({ allow: [] }), logger });
  lifecycle.add('files for MCP', () => http.close());
  return async (url: string, maxBytes: number) => {
    if (!url.startsWith(`${publicUrl}/`)) return null;
    const address = `${own}${new URL(url).pathname}${new URL(url).search}`;
    try {
      const { status, headers, body } = await http.request({
        method: 'GET',
        url: address,
        timeoutMs: FILE_TIMEOUT_MS,
        maxBytes,
        trustedOrigins: [own],
      });
      if (status !== 200) return null;
      return { bytes: body, contentType: headers['content-type'] ?? 'application/octet-stream' };
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error;
      // The answer has a link in any case.
      logger.debug({ error }, 'a file could not be read for an MCP answer');
      return null;
    }
  };
}
