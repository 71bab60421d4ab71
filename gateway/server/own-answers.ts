import { type RequestHandler, Router } from 'express';

import type { McpFace } from '../../faces/mcp/face.ts';
import { type Handler, mountBelow } from './middleware.ts';

/** What sends its own kind of answer; each absent where it is not served. */
interface OwnAnswers {
  readonly files?: Handler | undefined;
  readonly hooks?: Handler | undefined;
  readonly mcp?: McpFace | undefined;
  readonly sandbox?: Handler | undefined;
}

/** Where clients of MCP look for the metadata of RFC 9728: the resource's own path comes after the well-known one. */
const METADATA = ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'];

/** The paths of the MCP face. Its answers are not compressed: some are streams. */
function serveMcp({ serve, serveMetadata }: McpFace): RequestHandler {
  const router = Router();
  if (serveMetadata !== null) router.get(METADATA, (_request, response) => serveMetadata(response));
  router.all('/mcp', (request, response) => serve(request, response));
  return router;
}

/** Mounts what sends its own kind of answer: files, webhooks, streams, pages of the sandbox. */
export function mountOwn(mounted: Router, options: OwnAnswers, counted: RequestHandler): void {
  for (const [folder, handler] of [
    ['/files', options.files],
    ['/hooks', options.hooks],
  ] as const) {
    if (handler !== undefined) mounted.use(mountBelow(folder, counted), mountBelow(folder, handler));
  }
  if (options.mcp !== undefined) mounted.use(serveMcp(options.mcp));
  if (options.sandbox !== undefined) mounted.use(mountBelow('/sandbox', options.sandbox));
}
