import { randomUUID } from 'node:crypto';

import { Agent, request } from 'undici';

import { rest } from '../../../test/kit/clients/requests.ts';
import { extent } from '../../../test/kit/extent.ts';
import {
  type KilnProcess,
  serviceKey,
  startKilnProcess,
  temporaryDataDir,
} from '../../../test/kit/processes/kiln-process.ts';
import { type AttackClass, type Attempt, type Mode, told } from '../attack.ts';
import { largestDocument } from '../largest-document.ts';
import { compareCosts } from '../processor-time.ts';

const METRICS_KEY = 'a-key-of-the-metrics-0123456789abcdef';
/** A heap that planning without a bound fills within a minute. */
const settings = { METRICS_KEY, NODE_OPTIONS: '--max-old-space-size=512' };
/** Rates bound what an address costs in a minute; what one request costs is bound without them. */
const unlimited = { ...settings, RATE_LIMIT: 'status=100000000,read=100000000,plan=100000000' };
/** Where a credential is required most are refused before they are planned; the others fill what is kept many times. */
const DOCUMENTS: Partial<Record<Mode, number>> = {
  required: 10_000,
  production: extent(500, 10_000),
  compat: extent(500, 10_000),
};
const AT_ONCE = 4;
/** Of each kind, before and while they are measured. */
const WARM_UPS = 50;
const REQUESTS = 200;
/** Processor time of a request without a credential, in reads of a status: in the middle, on average, and of the ninth of ten beside theirs. */
const MOST_READS = 5;
/** The default of ANONYMOUS_DOCUMENT_POINTS. */
const MOST_POINTS = 2;

/** Documents and variables that are new and costly with each request: neither memory nor processor time is theirs. */
export const newDocuments: AttackClass = {
  name: 'new documents',
  modes: ['compat', 'required', 'production'],
  isQuick: false,
  async run({ mode }) {
    const { dataDir, remove } = await temporaryDataDir();
    try {
      return [...(await costs(dataDir, mode)), ...(await memory(dataDir, mode))];
    } finally {
      remove();
    }
  },
};

const salted = () => `x${randomUUID().slice(0, 8)}`;
const several = (count: number, field: (alias: string) => string) => {
  const salt = salted();
  return `{ ${Array.from({ length: count }, (_, index) => field(`a${index}${salt}`)).join(' ')} }`;
};
const twenty = (field: (alias: string) => string) => several(20, field);
const TASK =
  'task(id: "0199aaaa-0000-7000-8000-000000000000") { id state progress kind stage createdAt outputs { id url } attempts { number state } execution { id status template { code name } } }';
const LIST_FIELDS = [
  'code',
  'name',
  'description',
  'creditCost',
  'tags',
  'version',
  'workflow',
  'isActive',
  'createdAt',
];
const TEMPLATES = `templates { ${LIST_FIELDS.join(' ')} }`;
const LEVELS =
  '...G execution { id task { ...G execution { id task { ...G execution { id task { ...G } } } } } }';

/** Each in another process than the one before: planning looks for its way at every step. */
const nested = (depth: number): string =>
  depth === 0 ? 'id' : `id execution { id task { ${nested(depth - 1)} state kind } }`;

/** Written once: a client that is busy would leave the server time for other work, which counts as well. */
const unused = (variables: object) => {
  const text = JSON.stringify({ query: '{ health { service } }', variables });
  return () => text;
};

/** The bodies that a flood may be made of. */
const FLOODS: Readonly<Record<string, () => string>> = {
  'tasks under 20 aliases': () => JSON.stringify({ query: twenty((alias) => `${alias}: ${TASK}`) }),
  'public lists under 20 aliases': () =>
    JSON.stringify({ query: twenty((alias) => `${alias}: ${TEMPLATES}`) }),
  'nested fragments': () =>
    JSON.stringify({
      query: `${twenty((alias) => `${alias}: task(id: "x") { ...F }`)} fragment F on Task { ${LEVELS} } fragment G on Task { id state kind }`,
    }),
  'tasks and executions in each other': () =>
    JSON.stringify({ query: `{ ${salted()}: task(id: "x") { ${nested(6)} } }` }),
  // About as much as one may ask for, and no two have the same form.
  'ten fields of tasks and executions, each named anew': () =>
    JSON.stringify({
      query: several(2, (alias) => `${alias}: task(id: "x") { ${salted()}: id ${nested(3)} }`),
    }),
  'any fields, as many as are taken': () => JSON.stringify({ query: largestDocument(MOST_POINTS) }),
  'a public list, each field named anew': () =>
    JSON.stringify({
      query: `{ templates { ${LIST_FIELDS.map((name) => `${salted()}: ${name}`).join(' ')} } }`,
    }),
  '60,000 variables': unused(
    Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`v${index}`, index])),
  ),
  '230,000 lists in a variable': unused({ lists: Array.from({ length: 230_000 }, () => [1]) }),
};

const JSON_BODY = { 'content-type': 'application/json' };

async function costs(dataDir: string, mode: Mode): Promise<Attempt[]> {
  return withKiln({ dataDir, settings: { ...unlimited, ...settingsFor(mode) } }, async ({ url, pid }) => {
    const task = 'mutation { createTask(taskType: "tea", prompt: "x") { id } }';
    const { body } = await rest(url, 'POST', '/graphql', { query: task }, serviceKey);
    // Production has no provider here: nothing can be started, and a status that is looked for in vain costs as much.
    const status = `${url}/api/task/status/${body.data?.createTask?.id ?? randomUUID()}`;
    const unit = async () => (await request(status, { headers: serviceKey })).body.dump();
    await times(REQUESTS, unit);
    const attempts: Attempt[] = [];
    for (const [index, [what, make]] of Object.entries(FLOODS).entries()) {
      // An address of its own, which has all that an address may use in a minute.
      const from = new Agent({ connect: { localAddress: `127.0.0.${index + 10}` } });
      const post = async () => {
        const sent = { method: 'POST', headers: JSON_BODY, body: make(), dispatcher: from } as const;
        await (await request(`${url}/graphql`, sent)).body.dump();
      };
      await times(WARM_UPS, post);
      const cost = await compareCosts({ pid, unit, request: post, count: REQUESTS });
      await from.close();
      const told = Object.entries(cost).map(([part, reads]) => `${reads.toFixed(1)} (${part})`);
      attempts.push({
        what: `one of ${what}`,
        answer: `${told.join(', ')} status reads`,
        succeeded: Math.max(cost.mean, cost.median, cost.ninth) > MOST_READS,
      });
    }
    return attempts;
  });
}

/** Production takes no sandbox, so that nothing can be made there. */
function settingsFor(mode: Mode): Readonly<Record<string, string>> {
  if (mode !== 'production') return { REST_AUTH: mode };
  const INTERNAL_KEY = 'only-for-attacks-0123456789abcdef01234567';
  return { KILN_ENV: 'production', REST_AUTH: 'required', SANDBOX_URL: '', INTERNAL_KEY };
}

async function memory(dataDir: string, mode: Mode): Promise<Attempt[]> {
  const documents = DOCUMENTS[mode] ?? 0;
  const anyDocument = { ...unlimited, ...settingsFor(mode), ANONYMOUS_DOCUMENT_POINTS: '1000' };
  return withKiln({ dataDir, settings: anyDocument }, async ({ url }) => {
    const makes = Object.values(FLOODS).slice(0, 4);
    let answer: unknown = null;
    await Promise.all(
      Array.from({ length: AT_ONCE }, (_, lane) =>
        times(documents / AT_ONCE, async (index) => {
          const make = makes[(index + lane) % makes.length];
          // One field named anew: no two share a plan.
          const body = make?.().replace(/\b(id|code) /, `${salted()}: $1 `);
          answer = (await rest(url, 'POST', '/graphql', body, JSON_BODY)).body;
        }),
      ),
    );
    const bytes = await metric(url, 'kiln_plan_cache_bytes');
    const health = await fetch(`${url}/healthz`);
    return [
      {
        what: `${documents} new documents in a heap of 512 MB`,
        answer: `${health.status}, ${Math.round(bytes / 1e6)} MB of plans; ${told(answer)}`,
        succeeded: health.status !== 200,
      },
    ];
  });
}

async function withKiln(
  options: { readonly dataDir: string; readonly settings: Readonly<Record<string, string>> },
  run: (kiln: Pick<KilnProcess, 'pid'> & { readonly url: string }) => Promise<Attempt[]>,
): Promise<Attempt[]> {
  let kiln: (KilnProcess & { readonly url: string }) | null = null;
  try {
    kiln = await startKilnProcess(options);
    return await run(kiln);
  } finally {
    await kiln?.stop();
  }
}

async function times(count: number, run: (index: number) => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index += 1) await run(index);
}

async function metric(url: string, name: string): Promise<number> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_KEY}` } });
  const [, value] = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(await answer.text()) ?? [];
  if (value === undefined) throw new Error(`no metric ${name}: ${answer.status}`);
  return Number(value);
}
