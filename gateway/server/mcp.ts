import { type RequestHandler, Router } from 'express';

import type { McpFace } from '../../faces/mcp/face.ts';

/** Where clients of MCP look for the metadata of RFC 9728: the resource's own path comes after the well-known one. */
const METADATA = ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'];

/** The paths of the MCP face. Its answers are not compressed: some are streams. */
export function serveMcp(face: McpFace): RequestHandler {
  const router = Router();
  router.get(METADATA, (request, response) => face.serveMetadata(request, response));
  router.all('/mcp', (request, response) => face.serve(request, response));
  return router;
}
