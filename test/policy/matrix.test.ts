import { Supergraph } from '@apollo/federation-internals';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { checkedInSupergraph } from '../../gateway/composition/public-server.ts';
import type { AuthMode, Rule } from '../../platform/access/policy.ts';
import { sections } from '../../rest-compat/tables.ts';
import { collectPolicy } from '../../schema/policy.ts';
import { mediaSchema } from '../../subgraphs/media/schema/index.ts';
import { workflowSchema } from '../../subgraphs/workflow/schema/index.ts';
import { graphql, type GraphqlAnswer } from '../kit/clients/requests.ts';
import { takeSample, takeTurn } from '../kit/extent.ts';
import { findDefinition, fieldCall, namesUser, sendField, type RuledField } from './graphql-calls.ts';
import {
  NOWHERE,
  routeCall,
  routeNamesUser,
  sendRoute,
  type RouteAnswer,
  type RuledRoute,
} from './rest-calls.ts';
import { callerNames, openPolicySetup, type CallerName, type PolicySetup } from './setup.ts';

/**
 * Each root field and each REST route, called by everybody in every mode. The rows are the policy's own tables, so that a
 * new field or route is here by itself; what a rule means is said here once more, in a table of its own.
 */

const schemas = { media: mediaSchema, workflow: workflowSchema };
const subgraphs = Object.entries(schemas).map(([name, schema]) => ({ name, schema }));
const policy = collectPolicy(subgraphs, sections);
const findSchema = ({ subgraph }: RuledField) => schemas[subgraph as keyof typeof schemas];

/** What is answered: let in, told to sign in (401), told that it is not for them (403). */
type Verdict = 'in' | '401' | '403';

const everybody: Readonly<Record<CallerName, Verdict>> = {
  anonymous: 'in',
  other: 'in',
  owner: 'in',
  key: 'in',
  admin: 'in',
};
const known = { ...everybody, anonymous: '401' } as const;
const adminOnly = { anonymous: '401', other: '403', owner: '403', key: '403', admin: 'in' } as const;
const always = (row: Readonly<Record<CallerName, Verdict>>) => ({ open: row, compat: row, required: row });
const untilRequired = { open: everybody, compat: everybody, required: known };

const EXPECTED: Readonly<
  Record<Exclude<Rule, 'service'>, Readonly<Record<AuthMode, Readonly<Record<CallerName, Verdict>>>>>
> = {
  public: always(everybody),
  proof: always(everybody),
  anyone: untilRequired,
  owner: untilRequired,
  spend: untilRequired,
  unpaid: { open: everybody, compat: known, required: known },
  admin: { open: everybody, compat: adminOnly, required: adminOnly },
  operator: always(adminOnly),
};

/** Every call that can name a user names the owner: nobody else may, but for keys, and a mere label in open mode. */
const NAMED: Readonly<Record<AuthMode, Partial<Record<CallerName, Verdict>>>> = {
  open: { other: '403' },
  compat: { anonymous: '401', other: '403' },
  required: { anonymous: '401', other: '403' },
};

/** Who has no account has none to delete, and neither tasks nor boards that are known to be theirs, in open mode either. */
const EXCEPTIONS: Readonly<Record<string, Partial<Record<CallerName, Verdict>>>> = {
  'mutation deleteAccount': { anonymous: '401' },
  'query exportMyData': { anonymous: '401' },
  'mutation cancelTasks': { anonymous: '401' },
  'mutation restartTasks': { anonymous: '401' },
  'mutation createBoard': { anonymous: '401' },
  'mutation starMedia': { anonymous: '401' },
  'subscription tasksProgress': { anonymous: '401' },
};

/** Where callers are told apart, a workflow is saved by somebody: else it would be everybody's to change. */
const EXCEPTIONS_OF_COMPAT: typeof EXCEPTIONS = { 'mutation saveWorkflow': { anonymous: '401' } };

function expected(
  name: string,
  {
    rule,
    named,
    scopes,
    mode,
  }: Pick<Row, 'rule' | 'scopes'> & { readonly named: boolean; readonly mode: AuthMode },
): Record<CallerName, Verdict> {
  if (rule === 'service') throw new Error('what is for Kiln itself is not in the public schema');
  const byScope: Partial<Record<CallerName, Verdict>> = scopes.includes('admin') ? { key: '403' } : {};
  const exceptions = { ...EXCEPTIONS[name], ...(mode === 'compat' && EXCEPTIONS_OF_COMPAT[name]) };
  return { ...EXPECTED[rule][mode], ...byScope, ...(named ? NAMED[mode] : {}), ...exceptions };
}

/**
 * Anything else that comes back was let in: what is named does not exist, and what is asked can't be done. A call that
 * is unsound shows where its rule refuses somebody, as it is not refused then.
 */
function toVerdict(rule: Rule, code: unknown, message: string): string {
  if (code === 'INTERNAL' || code === 500) return `broken: ${message}`;
  if (code === 'FORBIDDEN' || code === 403) return '403';
  if (code !== 'UNAUTHENTICATED' && code !== 401) return 'in';
  // A proof that is not valid is refused by the service, in other words.
  return rule === 'proof' && !message.includes('needs a credential') ? 'in' : '401';
}

function verdictOfField({ rule }: RuledField, { data, errors = [] }: GraphqlAnswer): string {
  const [error] = errors;
  const code = error?.extensions['code'];
  if (code === 'GRAPHQL_VALIDATION_FAILED') return `not asked: ${error?.message}`;
  if (error === undefined && data === undefined) return 'no answer';
  return toVerdict(rule, code, error?.message ?? '');
}

function verdictOfRoute({ rule }: RuledRoute, { status, message, challenge }: RouteAnswer): string {
  if (status === 401 && challenge !== 'Bearer') return `no challenge: ${challenge}`;
  return toVerdict(rule, status, message);
}

/** What ends the session or the account it is asked with: asked last, with sessions of its own. */
const ENDS: readonly string[] = ['GET /auth/idp/logout', 'mutation deleteAccount'];

interface Row {
  readonly name: string;
  readonly rule: Rule;
  readonly namesUser: boolean;
  /** What a service key must be made for, in every mode; the key that asks has all but `admin`. */
  readonly scopes: readonly string[];
  /** The verdict on who asks with these headers. */
  readonly ask: (url: string, userId: string, headers: Readonly<Record<string, string>>) => Promise<string>;
}

/** What routes need besides what their table says is required. */
const NEEDED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'POST /api/cloud/humanvid/img/recognition': { img_url: NOWHERE },
  'POST /api/cloud/humanvid/video/submit/task': { img_input: NOWHERE, audio_input: NOWHERE },
  'POST /api/cloud/digital/url2vid': { video_url: NOWHERE },
  'POST /api/cloud/digital/video/submit/task': { digital_id: 'none', text: ' ' },
  'GET /payment/cancel': { payment_id: 'none' },
};

const routeRows = policy.routes.map((ruled): Row => {
  const name = `${ruled.route.method} ${ruled.route.path}`;
  const given = NEEDED[name] ?? {};
  return {
    name,
    rule: ruled.rule,
    namesUser: routeNamesUser(ruled),
    scopes: ruled.scopes,
    ask: async (url, userId, headers) =>
      verdictOfRoute(ruled, await sendRoute(url, routeCall(ruled, { userId, given }), headers)),
  };
});

/** A stream of tasks says nothing to who has none: each caller has one that is open, or has ended since the test began. */
const FOLLOWED = 'subscription tasksProgress';
const BEGAN = JSON.stringify(new Date().toISOString());
const MAKE_A_TASK = 'mutation { generateImage(input: { generator: "agg/imga", prompt: "followed" }) { id } }';

const fieldRows = policy.fields.map((field): Row => {
  const schema = findSchema(field);
  const name = `${field.kind} ${field.name}`;
  return {
    name,
    rule: field.rule,
    namesUser: namesUser(field, findDefinition(schema, field)),
    scopes: field.scope === null ? [] : [field.scope],
    ask: async (url, userId, headers) => {
      if (name === FOLLOWED) await graphql(url, MAKE_A_TASK, {}, headers);
      const given: Readonly<Record<string, string>> = name === FOLLOWED ? { endedSince: BEGAN } : {};
      return verdictOfField(
        field,
        await sendField(url, fieldCall(schema, field, { userId, given }), headers),
      );
    },
  };
});

const rows = [...routeRows, ...fieldRows].filter(({ rule }) => rule !== 'service');
const inOrder = [
  ...rows.filter(({ name }) => !ENDS.includes(name)),
  ...ENDS.flatMap((name) => rows.filter((row) => row.name === name)),
];

/** Everybody who must be refused, and of those who are let in another one for each row; in `npm run test:all` everybody. */
function chooseCallers(verdicts: Readonly<Record<CallerName, Verdict>>, number: number) {
  const letIn = takeTurn(
    callerNames.filter((who) => verdicts[who] === 'in'),
    number,
  );
  return callerNames.filter((who) => verdicts[who] !== 'in' || letIn.includes(who));
}

describe.each(['open', 'compat', 'required'] as const)('in mode %s', (mode) => {
  let world: PolicySetup;
  beforeAll(async () => {
    world = await openPolicySetup(mode);
  });
  afterAll(() => world?.kiln.close());

  // Where credentials are required every row, in the other modes the exceptions and, in `npm test`, one of eight.
  const sample = mode === 'required' ? inOrder : takeSample(inOrder, 8);
  const asked = inOrder.filter((row) => row.name in EXCEPTIONS || sample.includes(row));
  it.each(asked.map((row, number) => [row.name, row, number] as const))(
    '%s lets in whom its rule lets in',
    async (name, { rule, namesUser: named, scopes, ask }, number) => {
      const callers = ENDS.includes(name) ? await world.signInAgain() : world.callers;
      const verdicts = expected(name, { rule, named, scopes, mode });
      const asking = mode === 'required' ? chooseCallers(verdicts, number) : callerNames;
      const answers = asking.map(async (who) => {
        const verdict = await ask(world.kiln.url, callers.owner.id, callers[who].headers);
        return [who, verdict] as const;
      });
      expect(Object.fromEntries(await Promise.all(answers))).toEqual(
        Object.fromEntries(asking.map((who) => [who, verdicts[who]])),
      );
    },
  );

  it('keeps nothing of a stranger who is not let in', async () => {
    const { pool } = world.kiln.runtime.database;
    const kept = await pool.query(
      `select 'file' from media.media where owner = 'anon' union all select 'task' from media.tasks where owner = 'anon'
        union all select 'execution' from workflow.executions where owner = 'anon'`,
    );
    expect(kept.rows.length > 0).toBe(mode !== 'required');
  });
});

describe('what is for Kiln itself', () => {
  it('is not in the schema that callers see', async () => {
    const inner = policy.fields.filter(({ rule }) => rule === 'service').map(({ name }) => name);
    expect(inner).toEqual(expect.arrayContaining(['startTask', 'callerOf']));
    const api = Supergraph.build(await checkedInSupergraph())
      .apiSchema()
      .toGraphQLJSSchema();
    const visible = [api.getQueryType(), api.getMutationType(), api.getSubscriptionType()].flatMap((type) =>
      Object.keys(type?.getFields() ?? {}),
    );
    expect(visible.length).toBeGreaterThan(60);
    expect(visible.filter((name) => inner.includes(name) || name.startsWith('_'))).toEqual([]);
  });
});
