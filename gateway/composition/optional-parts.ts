import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { McpFace } from '../../faces/mcp/face.ts';
import type { FallbackParts } from '../../migration/fallback/compose.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { HttpFailure } from '../../platform/http/http-client.ts';
import { createOutboundRule } from '../../platform/http/safe-url.ts';
import { createHttpClient } from '../../platform/http/undici-http-client.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import type { Fallback } from '../../rest-compat/fallback.ts';
import { type CellLinks, createCellLinks } from '../cells/cell-links.ts';
import { readCellsFile } from '../cells/cells-file.ts';
import type { FederatedExecutor } from '../federation/federation.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import { requireContext } from '../request/request-context.ts';
import { forRest } from './faces.ts';
import type { ReservedPort } from './port.ts';

/** What the MCP face works with. */
interface McpParts {
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
    contextFor: requireContext,
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

/** The links to the other cells that CELLS_FILE names; undefined without one. */
export function composeCells({ config, logger, lifecycle }: ProcessParts): CellLinks | undefined {
  const { own, file } = config.cells;
  if (file === null) return undefined;
  const links = createCellLinks({
    cells: readCellsFile(file, own),
    logger: logger.part('gateway'),
    isOpen: config.auth.mode === 'open',
  });
  lifecycle.add('links to other cells', () => links.close());
  return links;
}

const MIGRATION = new URL('../../migration/fallback/compose.ts', import.meta.url);

/** The fallback to existing services, from `migration/`, which an image may leave out once a migration is over. */
export async function loadFallback(
  parts: ProcessParts,
  options: FallbackParts,
): Promise<Fallback | undefined> {
  if (existsSync(fileURLToPath(MIGRATION))) {
    const { composeFallback } = await import('../../migration/fallback/compose.ts');
    return composeFallback(parts, options);
  }
  if (Object.values(parts.config.fallback).some((url) => url !== null)) {
    throw new Error(
      'FALLBACK_MEDIA_URL and FALLBACK_WORKFLOW_URL need migration/, which this image does not have',
    );
  }
  return undefined;
}
