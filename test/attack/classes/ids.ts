import { rest } from '../../kit/clients/requests.ts';
import { type AttackClass, type Attempt, told, type World } from '../attack.ts';
import { transports } from '../transports.ts';

/** How each kind of thing is asked for by its id. */
const READS: Readonly<Record<string, (id: string) => string>> = {
  task: (id) => `{ task(id: "${id}") { id state } }`,
  execution: (id) => `{ execution(id: "${id}") { id parameters } }`,
  executionTask: (id) => `{ execution(taskId: "${id}") { id parameters } }`,
  payment: (id) => `{ payment(id: "${id}") { id ppSessionId } }`,
  user: (id) => `{ tasks { edges { node { id } } } executions(userId: "${id}") { edges { node { id } } } }`,
};
const FOLLOWS: Readonly<Record<string, (id: string) => string>> = {
  task: (id) => `subscription { taskProgress(id: "${id}") { seq } }`,
  execution: (id) => `subscription { executionProgress(id: "${id}") { seq } }`,
  payment: (id) => `subscription { paymentUpdated(id: "${id}") { id } }`,
};
const CHANGES: Readonly<Record<string, (id: string) => string>> = {
  task: (id) => `mutation { cancelTask(id: "${id}") { id } }`,
  file: (id) => `mutation { deleteMedia(id: "${id}") { id } }`,
  delivery: (id) => `mutation { redeliverWebhook(id: "${id}") { id } }`,
  payment: (id) => `mutation { cancelPayment(id: "${id}") { id } }`,
};
const PATHS: Readonly<Record<string, (id: string) => string>> = {
  task: (id) => `/api/task/status/${id}`,
  executionTask: (id) => `/task/${id}`,
  payment: (id) => `/payment/${id}`,
  user: (id) => `/templates/executions/user/${id}`,
};

/** Everything that somebody owns, asked for by its id by everybody else, over every transport. */
export const othersIds: AttackClass = {
  name: 'ids of others',
  modes: ['open', 'compat', 'required', 'split'],
  isQuick: true,
  async run(world) {
    const attempts: Attempt[] = [];
    for (const [who, headers] of Object.entries(world.attackers)) {
      for (const [kind, id] of Object.entries(world.ids)) {
        attempts.push(...(await byGraphql(world, { who, headers, kind, id })));
        attempts.push(...(await byRest(world, { who, headers, kind, id })));
      }
    }
    return attempts;
  },
};

interface Asking {
  readonly who: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly kind: string;
  readonly id: string;
}

async function byGraphql({ url, mode }: World, { who, headers, kind, id }: Asking): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  for (const [transport, send] of Object.entries(transports)) {
    const isStream = transport !== 'HTTP';
    const operations = [READS[kind], CHANGES[kind], ...(isStream ? [FOLLOWS[kind]] : [])];
    // In open mode a file's id deletes it for anybody on this machine, and lists name whom they like.
    for (const operation of operations) {
      if (operation === undefined || (transport === 'multipart' && operation !== FOLLOWS[kind])) continue;
      if (mode === 'open' && kind === 'user') continue;
      // The browser that comes back from a checkout has no credential: the id, which is in no list, is its proof.
      if (who === 'anonymous' && operation === CHANGES['payment']) continue;
      const query = operation(id);
      const answer = await send(url, query, headers);
      attempts.push({
        what: `${who}, ${transport}: ${query.slice(0, 60)}`,
        answer: told(answer),
        succeeded: isFound(answer),
      });
    }
  }
  return attempts;
}

/** Data that is more than nulls and empty lists. */
function isFound(answer: string): boolean {
  return /"(?:id|seq|state|ppSessionId|parameters)":(?!null)/.test(answer);
}

async function byRest({ url, mode }: World, { who, headers, kind, id }: Asking): Promise<Attempt[]> {
  const path = PATHS[kind]?.(id);
  if (path === undefined || (mode === 'open' && kind === 'user')) return [];
  const { status, body } = await rest(url, 'GET', path, undefined, headers);
  const isRefused = status >= 400 || (body.status === false && /no task/.test(String(body.msg)));
  return [{ what: `${who}, REST: GET ${path}`, answer: `${status} ${told(body)}`, succeeded: !isRefused }];
}
