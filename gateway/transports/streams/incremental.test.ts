import { type IncomingMessage, ServerResponse } from 'node:http';

import { expect, it } from 'vitest';

import { anonymousCaller } from '../../../platform/access/caller.ts';
import type { AnswerPart } from '../../../platform/graphql/operations/answers.ts';
import { codedError } from '../../../platform/graphql/operations/errors.ts';
import type { StreamFormat } from '../../../platform/graphql/operations/executor.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { createErrorFormatter } from '../../request/errors.ts';
import { attachContext } from '../../request/request-context.ts';
import { acceptsParts, createPartSender } from './incremental.ts';

const HEAD = '\r\ncontent-type: application/json; charset=utf-8\r\n\r\n';
const PARTS: readonly AnswerPart[] = [
  { data: { a: 1 }, hasNext: true },
  {
    incremental: [
      { data: null, path: ['b'], errors: [codedError('NOT_FOUND', 'none')] },
      { data: { c: 1 }, path: ['d', 0], label: 'l' },
    ],
    hasNext: true,
  },
  { errors: [codedError('INTERNAL', 'secret')], hasNext: false },
];

/** What is sent of an answer to a client that leaves after so many parts. */
async function sent(leavesAfter: number) {
  const caller = anonymousCaller('trace', null);
  const request = { headers: {} } as IncomingMessage;
  const response = new ServerResponse(request);
  attachContext(request, response, caller);
  const texts: string[] = [];
  const reserved: unknown[] = [];
  let [read, format, end] = [0, null as StreamFormat | null, null as string | null | undefined];
  const stream = {
    send: async (text: string) => texts.push(text) !== leavesAfter,
    end: (text?: string) => (end = text),
  };
  const reserve = (...asked: readonly unknown[]) => {
    reserved.push(asked);
    return { open: (given: StreamFormat) => ((format = given), stream) };
  };
  const errors = createErrorFormatter({ logger: silentLogger(), suggestions: false });
  async function* parts() {
    for (const part of PARTS) {
      read += 1;
      yield part;
    }
  }
  await createPartSender({ errors, streams: { reserve } as never })(request, response)?.(parts());
  expect(reserved).toEqual([[response, { request, caller }]]);
  return { texts, read, end, format };
}

it('an answer comes in parts, each with the delimiter after it and errors that callers may see', async () => {
  const { texts, end, format } = await sent(9);
  expect(texts.map((text) => [text.startsWith(HEAD), text.endsWith('\r\n--graphql')])).toEqual(
    PARTS.map(() => [true, true]),
  );
  const bodies = texts.map((text) => JSON.parse(text.slice(HEAD.length, -'\r\n--graphql'.length)) as unknown);
  expect(bodies).toEqual([
    { data: { a: 1 }, hasNext: true },
    {
      incremental: [
        { data: null, path: ['b'], errors: [{ message: 'none', extensions: { code: 'NOT_FOUND' } }] },
        { data: { c: 1 }, path: ['d', 0], label: 'l' },
      ],
      hasNext: true,
    },
    {
      errors: [{ message: 'internal error', extensions: { code: 'INTERNAL', traceId: 'trace' } }],
      hasNext: false,
    },
  ]);
  expect(end).toBe('--\r\n');
  const ended = (more: object) => `${HEAD}${JSON.stringify({ ...more, hasNext: false })}\r\n--graphql--\r\n`;
  const errors = [
    {
      message: 'the credential is not valid any more: subscribe again with another',
      extensions: { code: 'UNAUTHENTICATED' },
    },
  ];
  expect({ ...format, shutdown: format?.shutdown() }).toEqual({
    headers: {
      'Content-Type': 'multipart/mixed;boundary="graphql";deferSpec=20220824',
      'Cache-Control': 'no-store',
      'X-Accel-Buffering': 'no',
    },
    opening: '\r\n--graphql',
    heartbeat: '',
    shutdown: ended({}),
    credentialEnd: ended({ errors }),
  });
});

it('an answer is read no further for a client that has left', async () => {
  expect(await sent(2)).toMatchObject({ texts: [expect.any(String), expect.any(String)], read: 2 });
});

it.each([
  ['POST', 'multipart/mixed;deferSpec=20220824, application/json', true],
  ['POST', 'application/json, Multipart/Mixed; deferSpec="20220824"', true],
  ['GET', 'multipart/mixed;deferSpec=20220824', false],
  ['POST', 'multipart/mixed;subscriptionSpec=1.0', false],
  ['POST', 'application/json;deferSpec=20220824', false],
  ['POST', undefined, false],
] as const)('%s with Accept: %s takes parts: %j', (method, accept, takes) => {
  expect(acceptsParts({ method, headers: { accept } } as IncomingMessage)).toBe(takes);
});
