import type { Fault } from '../../faults/faults.ts';
import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';
import type { WireRequest } from '../../http/wire.ts';
import { generate, generatedJson } from './generate.ts';
import type { GeminiContext, GeneratedAnswer } from './generate.ts';

/**
 * POST /v1beta/models/{model}:streamGenerateContent: with `alt=sse` as events of a few words each, with the finish reason
 * in the last one; without it as one JSON list.
 */
export async function streamGenerateContent(
  context: GeminiContext,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const outcome = await generate(context, request, fault);
  if ('answer' in outcome) {
    const { answer } = outcome;
    // A refused prompt is an answer of the model, sent as an event.
    const { status, body } = answer;
    return status === 200 && typeof body === 'string' ? events(once(JSON.parse(body) as object)) : answer;
  }
  if (request.query.get('alt') !== 'sse') return json([...splitAnswer(outcome)]);
  return events(pause(splitAnswer(outcome)));
}

function events(pieces: AsyncIterable<object>): Answer {
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: (async function* () {
      for await (const piece of pieces) yield `data: ${JSON.stringify(piece)}\r\n\r\n`;
    })(),
  };
}

async function* once(piece: object): AsyncGenerator<object> {
  yield await Promise.resolve(piece);
}

/** Yields between chunks, so that they are sent one by one. */
async function* pause(pieces: Iterable<object>): AsyncGenerator<object> {
  for (const piece of pieces) {
    await new Promise((resolve) => setImmediate(resolve));
    yield piece;
  }
}

function* splitAnswer(answer: GeneratedAnswer): Generator<object> {
  for (const part of answer.parts) {
    const words = 'text' in part ? String(part.text).match(/(?:\S*\s*){1,3}/g) : null;
    const pieces = words === null ? [part] : words.filter((text) => text !== '').map((text) => ({ text }));
    for (const piece of pieces) yield generatedJson(answer, { parts: [piece], finishReason: null });
  }
  const last = answer.parts.length === 0 ? [] : [{ text: '' }];
  yield generatedJson(answer, { parts: last, finishReason: answer.finishReason });
}
