import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ErrorRequestHandler, NextFunction, Request, RequestHandler, Response } from 'express';

import { databaseAway } from '../../platform/database-away.ts';
import { AppError, toError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/process/logger.ts';
import type { EdgeStyle } from '../../rest-compat/replies/response-style.ts';
import { responseStyleAt } from '../../rest-compat/tables.ts';
import { readTraceId } from '../request/request-context.ts';
import { prefersHtml, sendJson } from '../request/steps.ts';
import { messagePage } from './message-page.ts';

/** Middleware around the handlers: mounting, errors. */

/** A handler to mount: an Express router or handler, or a plain Node one. */
export type Handler = (request: Request, response: Response, next: NextFunction) => unknown;

/** Mounts a handler below a path without stripping it from `request.url`. */
export function mountBelow(folder: string, handler: Handler): RequestHandler {
  return async (request, response, next) => {
    if (request.path !== folder && !request.path.startsWith(`${folder}/`)) return next();
    await handler(request, response, next);
  };
}

/** Responds 404 where no handler serves the path. */
export function answerNotFound(basePath: string): RequestHandler {
  return (request, response) => {
    if (request.method === 'GET' && prefersHtml(request.headers.accept)) {
      return sendNotFoundPage(request, response, basePath);
    }
    const message = `no such path: ${request.path.slice(0, 200)}`;
    const traceId = readTraceId(request);
    const style = chooseResponseStyle({ path: request.originalUrl, basePath });
    send(response, {
      status: 404,
      body: style.refusal({ status: 404, message, detail: 'Not Found', traceId }),
    });
  };
}

/** Browsers get a page with the way to the console; the path is escaped. */
function sendNotFoundPage(request: Request, response: Response, basePath: string): void {
  const page = messagePage({
    title: 'There is nothing at this address',
    text: request.path.slice(0, 200),
    link: { href: `${basePath}/console/`, label: 'Open the console' },
  });
  response.status(404).set('Cache-Control', 'no-store');
  response.vary('Accept').set('Content-Security-Policy', page.contentSecurityPolicy);
  response.type('html').send(page.html);
}

/** Responds to errors of handlers, in the envelope of the documented REST paths. */
export function answerError(
  logger: Logger,
  basePath: string,
  styleAt: StyleAt = responseStyleAt,
): ErrorRequestHandler {
  return (thrown: unknown, request, response, next) => {
    if (response.headersSent) return next(thrown);
    sendError(thrown, { request, response, path: request.originalUrl, logger, basePath, styleAt });
  };
}

/** How the service of a path responds; the path comes without that of PUBLIC_URL. */
export type StyleAt = (path: string) => EdgeStyle;

interface FailedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** As it was sent. */
  readonly path: string;
  readonly logger: Logger;
  readonly basePath: string;
  readonly styleAt?: StyleAt | undefined;
}

/** Responds to what a handler threw. */
export function sendError(thrown: unknown, failed: FailedRequest): void {
  const { request, response, logger } = failed;
  const style = chooseResponseStyle(failed);
  const error = databaseAway(thrown) ?? toError(thrown);
  const traceId = readTraceId(request);
  if (error instanceof AppError) {
    // An invalid credential, or one that can't be looked up now.
    const answer = style.failure(error, { traceId, ignored: [] });
    if (answer.unexpected) logger.error({ traceId, error }, 'a request failed');
    return send(response, answer);
  }
  const status =
    'status' in error && typeof error.status === 'number' && error.status < 500 ? error.status : 500;
  if (status === 500) logger.error({ traceId, error }, 'a request failed');
  const message = status === 500 ? `internal error, trace id ${traceId}` : error.message;
  send(response, { status, body: style.refusal({ status, message, traceId }) });
}

/** How the service of a path responds. */
function chooseResponseStyle({
  path,
  basePath,
  styleAt = responseStyleAt,
}: Pick<FailedRequest, 'path' | 'basePath' | 'styleAt'>): EdgeStyle {
  const [own = '/'] = path.split('?', 1);
  return styleAt(own.startsWith(`${basePath}/`) ? own.slice(basePath.length) : own);
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
}

function send(response: ServerResponse, { status, headers = {}, body }: Answer): void {
  response.setHeaders(new Map(Object.entries({ ...headers, 'Cache-Control': 'no-store' })));
  sendJson(response, status, body);
}
