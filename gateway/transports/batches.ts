import type { RequestHandler } from 'express';
import { type FormattedExecutionResult, GraphQLError } from 'graphql';

import { codedError } from '../../platform/graphql/operations/errors.ts';
import { refusal } from '../limits/refusal.ts';
import { contextOf } from '../request/request-context.ts';
import { readOperation } from './admission/read-operation.ts';
import { needsStream, type TransportOptions } from './admission/transport.ts';

/** Answers bodies that are lists of operations: each is admitted and counted by itself, and the answers come in their order. */
export function answerBatches(options: TransportOptions, maxBatch: number): RequestHandler {
  const { errors } = options;
  return async (request, response, next) => {
    const body: unknown = request.body;
    if (request.method !== 'POST' || !Array.isArray(body)) return next();
    const { traceId } = contextOf(request).caller;
    const found = body.length;
    if (found === 0 || found > maxBatch) {
      const error =
        found === 0
          ? codedError('BAD_REQUEST', 'the list has no operation')
          : refusal('batch', maxBatch, found);
      return void response.status(400).json({ errors: [errors.formatError(error, traceId)] });
    }
    response.json(
      await Promise.all(
        body.map((one, index) => answerOne(options, one, { request, isCounted: index === 0 })),
      ),
    );
  };
}

async function answerOne(
  { admission, errors, expand, federation }: TransportOptions,
  body: unknown,
  { request, isCounted }: { readonly request: Parameters<RequestHandler>[0]; readonly isCounted: boolean },
): Promise<FormattedExecutionResult> {
  const context = contextOf(request);
  const { traceId } = context.caller;
  const refused = (found: readonly GraphQLError[]) => ({
    errors: found.map((error) => errors.formatError(error, traceId)),
  });
  const operation = readOperation(expand === undefined ? body : expand(body));
  if (operation instanceof GraphQLError) return refused([operation]);
  const verdict = await admission.admit(operation, context.caller, isCounted);
  if ('errors' in verdict) return refused(verdict.errors);
  if (verdict.operation.kind === 'subscription') return refused([needsStream()]);
  return errors.formatResult(await federation.execute({ ...operation, context }), traceId);
}
