import { type DocumentNode, type ExecutionResult, getOperationAST, OperationTypeNode } from 'graphql';

import type { Logger } from '../../process/logger.ts';
import { runInSpan, type Tracer } from '../../tracing/span.ts';
import { toCaller, type CallerVerifier } from '../assertions/caller-assertion.ts';
import { answerText } from '../operations/answers.ts';
import type { PreparedDocument } from '../operations/documents.ts';
import { codedError, failedResult } from '../operations/errors.ts';
import { MAX_NESTING, nestsDeeperThan } from '../operations/inspect-document.ts';
import type { SubgraphLink } from '../operations/subgraph.ts';
import { MAX_ANSWER_BYTES, type AskMessage, MAX_SLOTS } from './protocol.ts';

/** What a subgraph server hands to its channels: who may ask, and what answers. */
export interface AnsweringSubgraph {
  readonly name: string;
  readonly link: Pick<SubgraphLink, 'execute'>;
  readonly logger: Logger;
  readonly verify: CallerVerifier;
  prepare(query: string): PreparedDocument;
}

/** An operation whose text was sent: what is run, or why it is not. */
type Known =
  | { readonly text: string; readonly document: DocumentNode; readonly refused?: undefined }
  | { readonly refused: ExecutionResult };

/** Makes what answers the requests of one connection, whose texts it remembers. It throws at a text that was never sent. */
export function createAnswerer(
  entryPoint: AnsweringSubgraph,
  tracer: Tracer,
): (message: AskMessage) => (signal: AbortSignal) => Promise<string> {
  const slots = new Map<number, Known>();
  return (message) => {
    const { slot, text } = message;
    if (slot >= MAX_SLOTS) throw new Error(`there are ${MAX_SLOTS} places for texts`);
    if (text !== undefined) slots.set(slot, prepare(text, entryPoint));
    const known = slots.get(slot);
    if (known === undefined) throw new Error(`no text was sent for place ${slot}`);
    return async (signal) => {
      if (known.refused !== undefined) return JSON.stringify(known.refused);
      const { traceparent } = message;
      const span = tracer.start('POST /graphql', { kind: 'server', traceparent });
      const result = await runInSpan(span, () => run(known, { message, signal, entryPoint }));
      span?.end();
      return bounded(answerText(result));
    };
  };
}

function prepare(text: string, entryPoint: AnsweringSubgraph): Known {
  const { document, errors } = entryPoint.prepare(text);
  return errors === undefined ? { text, document } : { refused: { errors } };
}

async function run(
  { text, document }: { readonly text: string; readonly document: DocumentNode },
  parts: {
    readonly message: AskMessage;
    readonly signal: AbortSignal;
    readonly entryPoint: AnsweringSubgraph;
  },
): Promise<ExecutionResult> {
  const { message, signal, entryPoint } = parts;
  const { variables, operationName } = message;
  const caller = toCaller(message.caller);
  if (getOperationAST(document, operationName)?.operation === OperationTypeNode.SUBSCRIPTION)
    return refusal('subscribe over graphql-ws');
  if (nestsDeeperThan(variables, MAX_NESTING)) return refusal(`variables nest deeper than ${MAX_NESTING}`);
  try {
    const context = { caller, signal };
    return await entryPoint.link.execute({ query: text, document, operationName, variables, context });
  } catch (thrown) {
    const { logger, name: subgraph } = entryPoint;
    return failedResult(thrown, { logger, traceId: caller.traceId, subgraph });
  }
}

function refusal(message: string): ExecutionResult {
  return { errors: [codedError('BAD_USER_INPUT', message)] };
}

/** An answer, or that it is too large for the other side. */
function bounded(text: string): string {
  // A character takes at most three bytes.
  if (text.length * 3 < MAX_ANSWER_BYTES || Buffer.byteLength(text) < MAX_ANSWER_BYTES) return text;
  return JSON.stringify({ errors: [codedError('UNAVAILABLE', 'the answer is too large')] });
}
