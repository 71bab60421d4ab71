import { getNamedType, type GraphQLNamedType, isLeafType, isObjectType, isRequiredArgument } from 'graphql';

import { graphql, until } from '../../../test/kit/clients/requests.ts';
import { findDefinition, fieldCall } from '../../../test/policy/graphql-calls.ts';
import { routeCall } from '../../../test/policy/rest-calls.ts';
import { type AttackClass, type Attempt, modes, told, type World } from '../attack.ts';
import { policy, schemas } from '../policy.ts';

/** Reading everything that is shown to strangers, for the id of a task that somebody made: it would cancel the task. */
export const taskIds: AttackClass = {
  name: 'ids of tasks',
  modes,
  isQuick: true,
  async run(world) {
    const made = await makeTask(world);
    const attempts: Attempt[] = [];
    // Where a credential is required, nobody without one gets further than the door.
    const reader = made.isNobodys ? 'anonymous' : 'another user';
    for (const [who, headers] of Object.entries(world.attackers)) {
      const look = async (what: string, path: string, init: RequestInit = {}): Promise<void> => {
        const answer = await fetch(new URL(path, world.url), {
          redirect: 'manual',
          ...init,
          headers: { ...headers, ...(init.headers as Headers) },
        });
        const text = `${JSON.stringify([...answer.headers])} ${await answer.text()}`;
        attempts.push({ what: `${who}: ${what}`, answer: told(text), succeeded: tells(text, made) });
      };
      const isReader = who === reader;
      for (const path of isReader ? PAGES : []) await look(path, path);
      for (const path of isReader ? restReads(made) : []) await look(`GET ${path}`, path);
      for (const query of [...mediaReads(made), ...(isReader ? rootFields() : [])])
        await look(query.slice(0, 60), '/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ query }),
        });
      for (const address of made.addresses) await look(address, address);
    }
    return attempts;
  },
};

type Headers = Readonly<Record<string, string>>;

interface Made {
  readonly task: string;
  readonly isNobodys: boolean;
  /** One of its results. */
  readonly file: string;
  readonly addresses: readonly string[];
}

const PAGES = ['/', '/graphql', '/healthz', '/readyz', '/metrics', '/openapi.json', '/console/', '/sandbox'];

/** By nobody where that is possible, else by the administrator. */
async function makeTask({ url, mode, admin }: World): Promise<Made> {
  const isNobodys = mode !== 'required' && mode !== 'production';
  const maker = isNobodys ? {} : admin;
  const started = await graphql(
    url,
    'mutation { createTask(taskType: "tea", prompt: "a cup") { id } }',
    {},
    maker,
  );
  const { id } = started.data.createTask;
  const query = `{ task(id: "${id}") { state outputs { id url thumbnail } } }`;
  const ended = await until(
    async () => (await graphql(url, query, {}, maker)).data.task,
    ({ state }) => state === 'SUCCEEDED',
  );
  const [{ id: file, url: address, thumbnail }] = ended.outputs;
  return { task: id, isNobodys, file, addresses: [address, thumbnail ?? address] };
}

function tells(text: string, { task }: Made): boolean {
  return text.includes(task) || text.includes(task.replaceAll('-', ''));
}

const mediaReads = ({ file: id }: Made) => [
  `{ media(id: "${id}") { id url name owner task { id state input { prompt } execution { id taskId } } } }`,
  `{ task(id: "${id}") { id } execution(taskId: "${id}") { id taskId } }`,
];

/** It would end the session that the attacker looks with. */
const SIGN_OUT = '/auth/idp/logout';

/** Every query, of a user who never signed in, with all that can be selected without arguments two levels deep. */
function rootFields(): readonly string[] {
  return policy.fields.flatMap((field) => {
    if (field.kind !== 'query' || field.rule === 'service') return [];
    const schema = schemas[field.subgraph as keyof typeof schemas];
    const selection = writeSelection(getNamedType(findDefinition(schema, field).type), 4);
    return [fieldCall(schema, field, { userId: 'customer-9', selection }).query];
  });
}

function writeSelection(type: GraphQLNamedType, depth: number): string {
  if (!isObjectType(type)) return '__typename';
  const fields = Object.values(type.getFields()).filter(({ args }) => !args.some(isRequiredArgument));
  const inner = fields.flatMap((field) => {
    const named = getNamedType(field.type);
    if (isLeafType(named)) return [field.name];
    const isPath = ['edges', 'node'].includes(field.name) || depth === 1;
    return isPath && depth > 0 ? [`${field.name} { ${writeSelection(named, depth - 1)} }`] : [];
  });
  return inner.length === 0 ? '__typename' : inner.join(' ');
}

/** Every REST read, of a user who never signed in, and of the file's id in the place of others. */
function restReads({ file }: Made): readonly string[] {
  return policy.routes
    .filter(({ route }) => route.method === 'GET' && route.path !== SIGN_OUT)
    .map((route) => {
      const ids = Object.keys(route.route.params).filter((name) => /id$/i.test(name) && name !== 'userId');
      const given = Object.fromEntries(ids.map((name) => [name, file]));
      return routeCall(route, { userId: 'customer-9', given }).path;
    });
}
