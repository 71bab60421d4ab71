import { type RequestHandler, Router } from 'express';
import { request } from 'undici';

import { contextOf } from '../request/request-context.ts';
import type { CellLinks } from './cell-links.ts';

/** What a cell says of itself and of the others. */

const TIMEOUT_MS = 2_000;
const NO_OTHERS: ReadonlyMap<number, string> = new Map();

/**
 * Serves `GET /cells`, all cells and whether they are ready, for administrators; none where there is only this one. With others
 * also `GET /caller`, whom the credential of the request stands for (204: nobody that this cell knows), which they ask for.
 */
export function serveCells(links: CellLinks | undefined, counted: RequestHandler): Router {
  const router = Router();
  if (links !== undefined) router.get('/caller', counted, answerCaller);
  router.get('/cells', counted, async (asked, response) => {
    response.set('Cache-Control', 'no-store');
    if (!contextOf(asked).caller.scopes.includes('admin')) {
      response.status(403).json({ message: 'this needs an administrator: sign in as one' });
      return;
    }
    const { own = 0, home = 0, urls = NO_OTHERS } = links?.cells ?? {};
    const cells = await Promise.all(
      [...urls].map(async ([number, url]) => ({ number, url, ready: await isReady(url) })),
    );
    response.json({ own, home, cells });
  });
  return router;
}

const answerCaller: RequestHandler = (asked, response) => {
  const { kind, id, scopes, generators = null, sessionId = null, expiresAt = null } = contextOf(asked).caller;
  response.set('Cache-Control', 'no-store');
  if (kind === 'user' || kind === 'key')
    response.json({ kind, id, scopes, generators, sessionId, expiresAt });
  else response.status(204).end();
};

async function isReady(url: string): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`${url}/readyz`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    await body.dump();
    return statusCode === 200;
  } catch {
    // Whoever does not answer is not ready.
    return false;
  }
}
