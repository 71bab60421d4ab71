import type { IncomingMessage, ServerResponse } from 'node:http';

import type { RequestHandler } from 'express';
import { type FormattedExecutionResult, GraphQLError } from 'graphql';

import { codedError } from '../../platform/graphql/operations/errors.ts';
import { noteRequest } from '../../platform/http/server.ts';
import { parseJson } from '../../platform/json.ts';
import { refusal } from '../limits/refusal.ts';
import { type ErrorFormatter, forbidStoring } from '../request/errors.ts';
import { requireContext } from '../request/request-context.ts';
import { readOperation } from './admission/read-operation.ts';
import { needsStream, type TransportOptions, type ExpandOperation } from './admission/transport.ts';

/** Answers bodies that are lists of operations: each is admitted and counted by itself, and the answers come in their order. */
export function answerBatches(options: TransportOptions, maxBatch: number): RequestHandler {
  const { errors } = options;
  return async (request, response, next) => {
    const body: unknown = request.body;
    if (request.method !== 'POST' || !Array.isArray(body)) return next();
    const { traceId } = requireContext(request).caller;
    const found = body.length;
    if (found === 0 || found > maxBatch) {
      const error =
        found === 0
          ? codedError('BAD_REQUEST', 'the list has no operation')
          : refusal('batch', maxBatch, found);
      return void response.status(400).json({ errors: [errors.formatError(error, traceId)] });
    }
    const answers = await Promise.all(
      body.map((one, index) => answerOne(options, one, { request, response, isCounted: index === 0 })),
    );
    if (answers.some((answer) => answer.errors !== undefined)) forbidStoring(response);
    response.json(answers);
  };
}

interface BatchMember {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether it was counted as a read before. */
  readonly isCounted: boolean;
}

async function answerOne(
  { admission, errors, expand, federation }: TransportOptions,
  body: unknown,
  { request, response, isCounted }: BatchMember,
): Promise<FormattedExecutionResult> {
  const context = requireContext(request);
  const { traceId } = context.caller;
  const refused = (found: readonly GraphQLError[]) => ({
    errors: found.map((error) => errors.formatError(error, traceId)),
  });
  const operation = readOperation(expand === undefined ? body : expand(body));
  if (operation instanceof GraphQLError) return refused([operation]);
  const verdict = await admission.admit(operation, context.caller, isCounted);
  if ('errors' in verdict) return refused(verdict.errors);
  const { kind, fields } = verdict.operation;
  if (kind === 'subscription') return refused([needsStream()]);
  if (kind === 'mutation') noteRequest(response, { changes: fields });
  return errors.formatResult(await federation.execute({ ...operation, context }), traceId);
}

/** Puts texts in the place of hashes, in bodies and in the addresses of GET requests. JSON bodies must have been read before. */
export function expandPersisted(expand: ExpandOperation, errors: ErrorFormatter): RequestHandler {
  return (request, response, next) => {
    const isGet = request.method === 'GET';
    const before: unknown = isGet ? readQueryString(request.originalUrl) : request.body;
    const after = expand(before);
    if (after instanceof GraphQLError) {
      const shown = errors.formatError(after, requireContext(request).caller.traceId);
      // As Apollo Server: clients read the code, and send the text.
      return void response
        .status(200)
        .set('Cache-Control', 'no-store')
        .json({ errors: [shown] });
    }
    if (after === before) return next();
    if (!isGet) {
      request.body = after;
      return next();
    }
    const { query } = after as { readonly query: string };
    request.url = withText(request.url, query);
    request.originalUrl = withText(request.originalUrl, query);
    // A text that is known here is no forged request of a browser: it reads, and its answer stays where it is.
    request.headers['apollo-require-preflight'] ??= 'persisted';
    next();
  };
}

function readQueryString(url: string): unknown {
  const { searchParams } = new URL(url, 'http://localhost');
  const extensions = parseJson(searchParams.get('extensions') ?? '');
  return { extensions, query: searchParams.get('query') ?? undefined };
}

function withText(url: string, query: string): string {
  const [path = '', search = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(search);
  parameters.delete('extensions');
  parameters.set('query', query);
  return `${path}?${parameters.toString()}`;
}
