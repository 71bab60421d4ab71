import type { RequestHandler, Router } from 'express';

import { once } from '../../platform/once.ts';
import type { ExplorerOptions } from './explorer-page.ts';

/** Makes the handler to mount at `/explorer`. Altair is loaded when the explorer is first opened. */
export function createExplorer(options: ExplorerOptions): RequestHandler {
  const explorer = once(() => load(options));
  return async (request, response, next) => {
    const router = await explorer();
    router(request, response, next);
  };
}

async function load(options: ExplorerOptions): Promise<Router> {
  const { createExplorerPage } = await import('./explorer-page.ts');
  return createExplorerPage(options);
}
