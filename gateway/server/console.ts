import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { type RequestHandler, type Response, Router, static as serveStatic } from 'express';

import { prefersHtml } from '../request/steps.ts';
import { messagePage } from './message-page.ts';

/** The console at /console: the files that `npm run console` has built. The browser may load nothing from elsewhere. */

function contentSecurityPolicy(others: readonly string[]): string {
  const files = ["'self'", ...others].join(' ');
  return [
    "default-src 'none'",
    "base-uri 'self'",
    `connect-src ${files}`,
    "font-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    `img-src ${files} data: blob:`,
    "manifest-src 'self'",
    `media-src ${files} blob:`,
    "script-src 'self'",
    "style-src 'self'",
  ].join('; ');
}

/** Where the console is mounted, and what it serves. */
export interface ConsoleOptions {
  /** Path prefix of PUBLIC_URL, without a slash at its end. */
  readonly basePath: string;
  /** Folder of the built files; it may appear, and be replaced, while this runs. */
  readonly folder: string;
  /** Origins of other cells, whose files it shows (default: none). */
  readonly fileOrigins?: readonly string[] | undefined;
}

/**
 * Makes the router to mount at `/console`. Files below assets/ have their hash in their names and are cached for a year.
 * Every other path is the page itself, whose router reads the address.
 */
export function createConsole({ basePath, folder, fileOrigins = [] }: ConsoleOptions): Router {
  const policy = contentSecurityPolicy(fileOrigins);
  const router = Router();
  router.use((_request, response, next) => {
    response.setHeader('Content-Security-Policy', policy);
    response.setHeader('Referrer-Policy', 'same-origin');
    next();
  });
  router.use('/assets', sendCompressed(path.join(folder, 'assets')));
  router.use(
    '/assets',
    serveStatic(path.join(folder, 'assets'), { immutable: true, maxAge: '1y', fallthrough: false }),
  );
  const sendPage: RequestHandler = async (_request, response) => {
    const page = await readPage(folder);
    response.setHeader('Cache-Control', 'no-cache');
    if (page === null) return sendBeingBuilt(response);
    // Relative addresses of the page are below its own path, however deep the address of the view is.
    response.type('html').send(page.replace('<base href="/console/"', `<base href="${basePath}/console/"`));
  };
  // By the name of its file it is the same page, and not that file as it was built.
  router.get('/index.html', sendPage);
  router.use(serveStatic(folder, { index: false, maxAge: '1h', redirect: false }));
  router.get('/{*path}', sendPage);
  return router;
}

/** What the build has compressed already, for browsers that take it; everything else is left to the next one. */
function sendCompressed(folder: string): RequestHandler {
  const send = serveStatic(folder, {
    immutable: true,
    maxAge: '1y',
    index: false,
    redirect: false,
    setHeaders: (response, file) => {
      response.setHeader('Content-Encoding', 'br');
      response.type(path.extname(file.slice(0, -'.br'.length)));
    },
  });
  return (request, response, next) => {
    const { url } = request;
    response.vary('Accept-Encoding');
    if (!/\.(js|css)$/.test(url) || request.acceptsEncodings('br') !== 'br') return next();
    request.url = `${url}.br`;
    send(request, response, (error?: unknown) => {
      request.url = url;
      next(error);
    });
  };
}

async function readPage(folder: string): Promise<string | null> {
  try {
    return await readFile(path.join(folder, 'index.html'), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function sendBeingBuilt(response: Response): void {
  const page = messagePage({
    title: 'The console is being built',
    text: 'This page opens it as soon as it is there, usually within ten seconds. If it does not: npm run console.',
    refreshSeconds: 2,
  });
  response.setHeader('Content-Security-Policy', page.contentSecurityPolicy);
  response.status(503).set('Retry-After', '2').type('html').send(page.html);
}

/** Redirects browsers that open `/` to the console; programs get the documented JSON as ever. */
export function sendBrowsersToConsole(basePath: string): RequestHandler {
  return (request, response, next) => {
    response.vary('Accept');
    if (!prefersHtml(request.headers.accept)) return next();
    response.set('Cache-Control', 'no-store').redirect(`${basePath}/console/`);
  };
}
