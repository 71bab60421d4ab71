import { z } from 'zod';

/** Parts of the form whose messages are the remedy. */

/** The message of what is wrong or missing. */
export function must(remedy: string) {
  return {
    error: ({ input }: { readonly input?: unknown }) =>
      input === undefined ? `is missing: it ${remedy}` : remedy,
  };
}

/** A whole number. */
export function integer(least: number, most: number) {
  const remedy = must(`must be a whole number from ${least} to ${most}`);
  return z.int(remedy).min(least, remedy).max(most, remedy);
}

/** A URL of one of these schemes. */
export function address(schemes: readonly string[]) {
  const remedy = must(
    `must be an address that begins with ${schemes.map((one) => `${one}//`).join(' or ')}, without user name`,
  );
  return z.string(remedy).refine((value) => {
    const url = URL.parse(value);
    return url !== null && schemes.includes(url.protocol) && url.username === '' && url.password === '';
  }, remedy);
}

/** The form of what the file says of subgraphs. */

/** Headers that belong to a connection or a body, and those by which Kiln's own processes know each other. */
const RESERVED = new Set([
  'host',
  'connection',
  'content-length',
  'content-type',
  'transfer-encoding',
  'upgrade',
  'accept',
  'x-kiln-caller',
]);

/** The same of answers. */
const RESERVED_IN_ANSWERS = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'keep-alive',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const headerBut = (reserved: ReadonlySet<string>) =>
  z
    .string(must('must be the name of a header'))
    .regex(/^[\w!#$%&'*+.^`|~-]+$/, must('must be the name of a header'))
    .transform((name) => name.toLowerCase())
    .refine(
      (name) => !reserved.has(name),
      must('is a header that the gateway writes itself: choose another'),
    );
const header = headerBut(RESERVED);
const answerHeader = headerBut(RESERVED_IN_ANSWERS);

/** Values that a header may have; another one fails the request that has it. */
export const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** What is said of others. The value is not shown: it may be a secret. */
export const REFUSED_VALUE =
  'has a line break or another letter that no header may have: take it out, also of the environment variables';

const headerRule = z.union(
  [
    z.strictObject({
      propagate: header.describe("Sends this header of the caller's request on."),
      as: header.optional().describe('The name that the subgraph gets it under (default: the same).'),
    }),
    z.strictObject({
      insert: header.describe('Sends this header, whatever the caller sent.'),
      value: z
        .string(must('must be a text'))
        .regex(HEADER_VALUE, must(REFUSED_VALUE))
        .describe('Its value; ${NAME} stands for an environment variable.'),
    }),
    z.strictObject({
      claim: z
        .string(must('must be the name of a claim'))
        .describe("Sends this claim of the caller's token."),
      as: header.describe('The header that the subgraph gets it in.'),
    }),
    z.strictObject({ remove: header.describe('Sends this header no more, also where an earlier rule did.') }),
  ],
  must('must be one of { propagate, as }, { insert, value }, { claim, as } and { remove }'),
);
/** Rules for what subgraphs get. */
export const headerRules = z
  .array(headerRule, must('must be a list of rules'))
  .max(100, must('must have at most 100 rules'));

/** What callers see of errors. */
export const errors = z
  .enum(['whole', 'codes', 'masked'], must('must be whole, codes or masked'))
  .describe('What callers see of errors: as the subgraph says them; their codes alone; or "internal error".');

const responseRule = z.strictObject(
  {
    propagate: answerHeader.describe("Sends this header of the subgraph's answer to the caller."),
    as: answerHeader.optional().describe('Under this name (default: the same).'),
  },
  must('must be { propagate, as }'),
);

/** Rules for what callers get of the headers that subgraphs answer with. */
export const responseRules = z
  .array(responseRule, must('must be a list of rules'))
  .max(100, must('must have at most 100 rules'));

const filePath = z.string(must('must be the path of a file')).min(1, must('must be the path of a file'));

const tls = z.strictObject({
  ca: filePath.optional().describe("Authorities that are trusted in place of the system's, as PEM."),
  certificate: filePath.optional().describe('The certificate that the gateway shows, as PEM.'),
  key: filePath.optional().describe('Its key, as PEM.'),
});

const breaker = z.strictObject({
  failures: integer(1, 1_000).describe('Requests in a row without an answer after which it is left alone.'),
  pauseMs: integer(100, 600_000).describe('Until one request is let through again.'),
});

const subscriptions = z.strictObject({
  protocol: z
    .enum(['graphql-ws', 'sse', 'multipart'], must('must be graphql-ws, sse or multipart'))
    .optional()
    .describe('How events come (default: graphql-ws).'),
  connectionParams: headerRules
    .optional()
    .describe('What it gets in connection_init of graphql-ws (default: the bearer token as authorization).'),
});

const seconds = integer(0, 31_536_000);

const entityCache = z.strictObject({
  maxAgeSeconds: seconds.describe('How long an entity is kept; 0: only those of types.'),
  types: z
    .record(z.string(), seconds, must('must be an object: name of a type -> seconds'))
    .optional()
    .describe('Seconds by type; 0: not kept.'),
  scope: z
    .enum(['private', 'public'], must('must be private or public'))
    .optional()
    .describe(
      'Whose they are: of callers of whom the subgraph gets the same headers, or everybody (default: private).',
    ),
});

/** What the file says of one subgraph. */
export const subgraph = z.strictObject({
  url: address(['http:', 'https:'])
    .optional()
    .describe('Its GraphQL over HTTP (default: as the supergraph says).'),
  websocketUrl: address(['ws:', 'wss:'])
    .optional()
    .describe('Its graphql-ws (default: at the same address as its HTTP).'),
  timeoutMs: integer(10, 600_000).optional().describe('For a whole answer (default: 30000).'),
  retries: integer(0, 5)
    .optional()
    .describe('How often a query that got no answer is sent again (default: 0).'),
  entityCache: entityCache.optional().describe('Entities that are kept (default: none).'),
  sharesReads: z
    .boolean(must('must be true or false'))
    .optional()
    .describe(
      'Equal queries of one caller that are on their way share one answer (default: as SHARED_READS says).',
    ),
  headers: headerRules.optional().describe('After those for every subgraph.'),
  responseHeaders: responseRules.optional().describe('After those of every subgraph.'),
  errors: errors.optional(),
  subscriptions: subscriptions.optional().describe('How it is subscribed at.'),
  breaker: breaker.optional().describe('Leaves it alone while it does not answer (default: always asks).'),
  connections: integer(1, 10_000)
    .optional()
    .describe('Most connections to one of its processes (default: 128).'),
  tls: tls.optional().describe('Certificates (default: those of the system).'),
});

/** A rule for the headers that a subgraph gets. */
export type HeaderRule = z.output<typeof headerRule>;

/** A rule for the headers that callers get of a subgraph. */
export type ResponseRule = z.output<typeof responseRule>;

/** How errors of a subgraph are shown. */
export type ErrorInclusion = z.output<typeof errors>;
