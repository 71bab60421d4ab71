import type { AppErrorCode } from '../platform/errors.ts';
import type { RequestErrorCode } from '../platform/graphql/operations/errors.ts';
import { mediaFailures, workflowFailures } from '../rest-compat/replies/failures.ts';
import type { FailureCode } from '../subgraphs/media/domain/failure.ts';

/** docs/errors.md: every error code. The types make the tables complete; statuses come from the code that sends them. */

/** What a code means, and what its reader does. */
interface Advice {
  readonly meaning: string;
  readonly remedy: string;
}

const requestErrors: Readonly<Record<AppErrorCode, Advice>> = {
  BAD_USER_INPUT: {
    meaning: 'an input is wrong; `field` names it, or `problems` all of them',
    remedy: 'change what the message says; the same request fails again',
  },
  NOT_FOUND: {
    meaning: "there is no such thing, or it is somebody else's",
    remedy: 'check the id and the credential',
  },
  UNAUTHENTICATED: {
    meaning: 'a credential is needed, or the one sent is malformed, expired, revoked or forged',
    remedy: 'refresh the access token, or sign in again; then repeat',
  },
  FORBIDDEN: {
    meaning: 'the caller is known, and may not do this',
    remedy: 'use a credential that may: [policy.md](policy.md)',
  },
  IDEMPOTENCY_CONFLICT: {
    meaning: 'the idempotency key was used for another request',
    remedy: 'a new key for a new request; the same request for the same key',
  },
  CONFLICT: {
    meaning: 'a unique name is taken (task_type, template code, external id)',
    remedy: 'choose another name',
  },
  PAYLOAD_TOO_LARGE: {
    meaning: 'a body or file is over the limit',
    remedy: 'send less, or have UPLOAD_MAX_BYTES raised',
  },
  RATE_LIMITED: {
    meaning: 'too many requests of this caller, or of Kiln at the provider while you waited',
    remedy: 'repeat after `retryAfter` seconds',
  },
  BUDGET_EXCEEDED: {
    meaning:
      'a budget of the caller, the generator or this service does not allow it; nothing was started. `budget` has what is left of an own one, and when it renews',
    remedy: 'wait until it renews (`retryAfter`), or have the budget raised',
  },
  QUEUE_FULL: {
    meaning: 'too much work waits for this generator; nothing was started',
    remedy: 'repeat after `retryAfter` seconds',
  },
  MODEL_RETIRED: {
    meaning: 'the model has ended at its provider; nothing was started',
    remedy: 'name the successor that the message names, or no model',
  },
  NOT_INSTALLED: {
    meaning:
      'no ComfyUI machine has a node class or model file that the graph needs: the message, and `problems`, name each; nothing was started',
    remedy: 'have it installed on a machine, or change the graph',
  },
  EVENTS_EXPIRED: {
    meaning: "the task's events were removed after EVENT_RETENTION_DAYS",
    remedy: 'read the task itself, which has its end',
  },
  TOO_LATE: {
    meaning: 'the task can not be cancelled any more: its result is being stored',
    remedy: 'take the result',
  },
  NOT_CONFIGURED: {
    meaning: 'the generator or part is not available here',
    remedy: 'use another generator; operators find the missing setting in the log and in `health`',
  },
  UNAVAILABLE: {
    meaning: 'something that Kiln depends on does not answer',
    remedy: 'repeat with the same idempotency key after `retryAfter` seconds (5 when absent)',
  },
  QUERY_REFUSED: {
    meaning: 'the GraphQL document is deeper, longer or costlier than allowed: `limit`, `allowed`, `found`',
    remedy: 'ask less at once, or page',
  },
  INTERNAL: {
    meaning: 'a fault of Kiln; its message is masked',
    remedy:
      'report the `traceId`; whether it happened is not known, so repeat only with the same idempotency key',
  },
};

const documentErrors: Readonly<Record<RequestErrorCode, Advice>> = {
  BAD_REQUEST: {
    meaning: 'the body is no GraphQL request: not JSON, no document, a needed header is missing',
    remedy: 'send what the message says',
  },
  GRAPHQL_PARSE_FAILED: { meaning: 'the document is not GraphQL', remedy: 'correct the document' },
  GRAPHQL_VALIDATION_FAILED: {
    meaning: 'the document does not fit the schema',
    remedy: 'generate clients from /schema.graphql, which finds this when they are built',
  },
  OPERATION_RESOLUTION_FAILURE: {
    meaning: 'the document has several operations, and none was named or found',
    remedy: 'send `operationName`',
  },
};

const taskFailures: Readonly<Record<FailureCode, Advice>> = {
  MODERATION_REFUSED: {
    meaning: 'the provider refuses the content',
    remedy: 'change prompt or inputs; the same again is refused again',
  },
  INVALID_INPUT: {
    meaning: 'the provider does not take an input, or a link could not be fetched',
    remedy: 'change the input that `field` or the message names',
  },
  RATE_LIMITED: {
    meaning: "the provider's limit, after all attempts and fall-backs",
    remedy: 'start again later',
  },
  OUT_OF_CREDIT: {
    meaning: 'the account at the provider has no credit',
    remedy: 'operators add credit or another binding; then start again',
  },
  MODEL_GONE: {
    meaning:
      'the provider does not have the model any more, or not for this key; every other binding that could do the work was asked',
    remedy:
      'name another model or generator; operators find what the provider said in the log and in `health`',
  },
  UNAVAILABLE: {
    meaning:
      "the provider does not work, after all attempts and fall-backs; or it refuses Kiln's own credentials (`retryable` is false)",
    remedy:
      'start again later, or name another generator; operators find the setting in the log and in `health`',
  },
  TIMED_OUT: {
    meaning: 'it took longer than its time, or waited longer than QUEUE_MAX_HOURS',
    remedy: 'start again; shorter or smaller work if it stays so',
  },
  LOST: { meaning: 'the provider does not know the work any more', remedy: 'start again' },
  START_UNKNOWN: {
    meaning: 'the answer to the start was lost, and the provider can not be asked whether it started',
    remedy: 'start again when paying twice is acceptable: Kiln does not decide that',
  },
  STORAGE_FAILED: {
    meaning: 'the result could not be fetched or stored',
    remedy: 'start again; operators look at the file storage',
  },
  INTERNAL: { meaning: 'a fault of Kiln', remedy: 'report the id of the task' },
};

/** The whole page. */
export function errorsPage(): string {
  const statuses = (code: string) =>
    [mediaFailures, workflowFailures].map((service) =>
      String((service.statuses as Readonly<Record<string, number>>)[code] ?? 500),
    );
  return [
    '# Error codes',
    '',
    '<!-- Generated by `npm run schema` from the code. Do not edit. -->',
    '',
    ...introduction,
    '## Of requests',
    '',
    ...table(
      ['code', 'media over REST', 'workflow over REST', 'meaning', 'what to do'],
      Object.entries(requestErrors).map(([code, { meaning, remedy }]) => [
        `\`${code}\``,
        ...statuses(code),
        meaning,
        remedy,
      ]),
    ),
    'A media operation whose declared parameters are missing, mistyped or out of bounds is 422 with `detail`, one entry for each problem.',
    'Application failures of the media service are HTTP 200 with `status: false`, as its document says; `msg` says what to do.',
    '',
    '## Of GraphQL documents',
    '',
    ...table(['code', 'meaning', 'what to do'], listRows(documentErrors)),
    '## Of tasks',
    '',
    '`Task.error.code`, the `error` of webhooks and `data.error.code` over REST (there in small letters; a cancelled task reads `cancelled`).',
    '`retryable` says whether the same request may succeed later; Kiln has then made its own attempts already. What was paid for failed work is',
    'refunded (PP_AUTO_REFUND).',
    '',
    ...table(['code', 'meaning', 'what to do'], listRows(taskFailures)),
    ...sockets,
    '',
  ].join('\n');
}

const introduction = [
  'GraphQL: `errors[].extensions.code`. HTTP is 200 when the document was executed; 400, 401, 413, 429 or 503 when it was not. REST of the media service: the HTTP',
  'status and `msg`; of the workflow service: `code` and `message`, with `data.issues` for bad input. Every message says what is wrong and what to do.',
  '',
];

const sockets = [
  '## Of WebSockets',
  '',
  ...table(
    ['close code', 'meaning', 'what to do'],
    [
      ['1001', 'the process stops', 'connect again, with `afterSeq`'],
      ['4400', 'a message is not of the graphql-transport-ws protocol', 'use a current graphql-ws client'],
      [
        '4403',
        'the credential is missing, refused, or has ended meanwhile',
        'refresh the token, then connect again',
      ],
      ['4406', 'no common protocol', 'ask for graphql-transport-ws'],
      ['4408', 'no `connection_init` within 10 s', 'send it at once'],
      ['4429', 'too many sockets or requests of this caller', 'wait a minute; use one socket for everything'],
      ['4500', 'a fault of Kiln', 'connect again, with `afterSeq`'],
    ],
  ),
];

function listRows(codes: Readonly<Record<string, Advice>>): string[][] {
  return Object.entries(codes).map(([code, { meaning, remedy }]) => [`\`${code}\``, meaning, remedy]);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const lines = rows.map((cells) => `| ${cells.join(' | ')} |`);
  return [`| ${head.join(' | ')} |`, `|${head.map(() => '---|').join('')}`, ...lines, ''];
}
