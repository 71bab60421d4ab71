/** The words of docs/policy.md that no code computes. */

/** A Markdown table and the empty line behind it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [`| ${head.join(' | ')} |`, `|${head.map(() => '---|').join('')}`, ...rows.map(formatRow), ''];
}

function formatRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** What service keys may do, and who runs templates unpaid. */
export const keys = [
  '## Service keys, and running without paying',
  '',
  'A key has scopes: `read`, `start` (work, and the uploads it needs), `manage` (change and end its own things), and `admin`, which is all of them',
  'and of everybody. A key that is made without any has the first three; those of SERVICE_KEYS have `admin`. Each field and route below names',
  'the scope it asks for; without it the answer is 403, in open mode too: a key does what it was made for. A key may have an end (`expiresAt`), and a list of the only generators it may use',
  '(`generators`; `recipe` is what tasks by their task type count as); when it was last used is kept to a minute.',
  '',
  'UNPAID_EXECUTIONS says who runs templates that cost something without paying (`unpaid` below): `open` everybody whom the mode lets in, `keys`',
  '(the default outside of open mode) service keys and administrators, `nobody` no one. Others get 403 and buy it. A template with a',
  'credit cost of 0 runs for everybody whom the rule lets in.',
  '',
];

/** What is written down. */
export const audit = [
  '## Audit log',
  '',
  'Written down, with caller, address, target and time: sign-ins and deleted accounts; every mutation of the rules `admin` and `operator` (templates,',
  'refunds, keys); what administrators read, follow, cancel or delete that is of others. The rows are only added to (a trigger refuses the',
  'rest) and end after AUDIT_RETENTION_DAYS. `auditEntries` shows them to administrators.',
  '',
];

/** What `npm run attack` tries. */
export const attacks = [
  '## Attacks',
  '',
  '`npm run attack` starts Kiln in each mode (open, compat, required, production, split) and tries, without a credential and as another user:',
  '',
  ...table(
    ['class', 'what is tried'],
    [
      [
        'GraphQL limits',
        'depth, aliases, tokens, fragments, pages, brackets and batches, over HTTP and WebSocket',
      ],
      [
        'ids of others',
        'every id of what a user or a key owns (voices, characters and avatars too): read, followed, changed, used; over HTTP, SSE, multipart, WebSocket, REST',
      ],
      [
        'ids of tasks',
        'all that strangers are shown, by every query, page and file, read for the id of a task',
      ],
      [
        'names of buyers',
        'what a name opens in compat: sessions, parameters, tasks, refunds, ending a checkout',
      ],
      [
        'addresses of the inside',
        'loopback, private and metadata addresses in all their forms, as inputs and callbacks',
      ],
      [
        'credentials',
        "forged, borrowed and malformed ones; Kiln's own fields; what administrators alone may do",
      ],
      ['payments', 'forged events, foreign sessions, refunds, running without paying'],
      [
        'uploads',
        'maps and names that climb, forms of other sites, pages that would run, files of nobody, more at once than the quota',
      ],
      ['floods of starts', 'more starts than a caller may, by every field, route and transport'],
      ['slow bodies', 'posts and uploads of a byte every two seconds, while an honest slow upload passes'],
      ['floods', 'more connections than one address may hold, while another address is served'],
      [
        'ports of subgraphs',
        'all of it at subgraphs in processes of their own, where only the gateway is answered',
      ],
      ['disclosure', 'introspection, suggestions and paths that production keeps to itself'],
    ],
  ),
  '',
];

/** What strangers read of buyers in compat. */
export const compat = [
  '## What a name opens in compat',
  '',
  'An old client names its user and sends no credential, so whoever knows a name may read what the documents name of the purchases of somebody',
  'who never signed in: `id`, `templateCode`, `userId`, `status`, amounts, `currency`, `createdAt` of payments; `executionId`, `templateCode`,',
  '`status`, `createdAt` of executions. `ppSessionId`, `executionId` of a payment, task ids, parameters and outputs are withheld, and nothing',
  'of it can be cancelled or refunded. The session that the checkout answered opens the whole payment (`GET /payment/success` with `session_id`,',
  '`reconcilePayment`) and ends it (`/payment/cancel` with both ids); the task id that success answers opens the execution and cancels its',
  'task. So a client that keeps what it was answered works as before; the page of a buyer who gives up ends nothing, the checkout ends by',
  'itself within the hour. What users and keys own is not listed to others at all.',
  '',
];
