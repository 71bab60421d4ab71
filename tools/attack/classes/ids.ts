import { rest } from '../../../test/kit/clients/requests.ts';
import { routeCall, sendRoute } from '../../../test/policy/rest-calls.ts';
import { type AttackClass, type Attempt, type Belongings, modes, told, type World } from '../attack.ts';
import { policy } from '../policy.ts';
import { transports } from '../transports.ts';

/** How each kind of thing is asked for by its id. */
type Operations = Readonly<Record<string, readonly ((id: string) => string)[]>>;

const READS: Operations = {
  task: [
    (id) => `{ task(id: "${id}") { id state } }`,
    (id) => `{ webhookDeliveries(taskId: "${id}") { id } }`,
  ],
  conversation: [
    (id) => `{ conversation(id: "${id}") { id title } }`,
    (id) => `{ conversationMessages(id: "${id}") { id text } }`,
    (id) => `{ conversations(ids: ["${id}"]) { id title } }`,
  ],
  workflow: [(id) => `{ savedWorkflow(id: "${id}") { id versions { graph } } }`],
  fileHash: [(hash) => `{ mediaByBlake3(blake3: "${hash}") { id } }`],
  execution: [(id) => `{ execution(id: "${id}") { id parameters } }`],
  executionTask: [(id) => `{ execution(taskId: "${id}") { id parameters } }`],
  payment: [(id) => `{ payment(id: "${id}") { id ppSessionId } }`],
  user: [
    (id) => `{ executions(userId: "${id}") { edges { node { id } } } }`,
    (id) => `{ payments(userId: "${id}") { edges { node { id } } } }`,
  ],
};
/** Lists of one's own: they name nothing of others, whatever they are asked. */
const LISTS = [
  '{ tasks { edges { node { id } } } medias { edges { node { id } } } }',
  '{ savedWorkflows { id } }',
  '{ sessions { id } }',
  '{ voices(generator: "speech_router") { id } }',
  '{ providerVoices(generator: "speech_router") }',
];
const FOLLOWS: Operations = {
  task: [(id) => `subscription { taskProgress(id: "${id}") { seq } }`],
  execution: [(id) => `subscription { executionProgress(id: "${id}") { seq } }`],
  payment: [(id) => `subscription { paymentUpdated(id: "${id}") { id } }`],
};
const CHANGES: Operations = {
  task: [(id) => `mutation { cancelTask(id: "${id}") { id } }`],
  conversation: [
    (id) => `mutation { deleteConversation(id: "${id}") { id } }`,
    (id) => `mutation { saveConversation(id: "${id}", input: { title: "theirs", generator: "llm" }) { id } }`,
  ],
  workflow: [
    (id) => `mutation { publishWorkflow(id: "${id}", version: 1) { id } }`,
    (id) => `mutation { rollBackWorkflow(id: "${id}") { id } }`,
    (id) => `mutation { withdrawWorkflow(id: "${id}") { id } }`,
    (id) => `mutation { deleteWorkflow(id: "${id}") { id } }`,
    (id) =>
      `mutation { saveWorkflow(name: "${id}", graph: { a: { class_type: "EmptyImage", inputs: { width: 16, height: 16, batch_size: 1, color: 0 } }, b: { class_type: "SaveImage", inputs: { images: ["a", 0], filename_prefix: "theirs" } } }) { id } }`,
  ],
  file: [(id) => `mutation { deleteMedia(id: "${id}") { id } }`],
  delivery: [(id) => `mutation { redeliverWebhook(id: "${id}") { id } }`],
  payment: [
    (id) => `mutation { cancelPayment(id: "${id}") { id } }`,
    (id) => `mutation { refundPayment(id: "${id}", reason: USER_REQUEST) { id } }`,
  ],
  session: [(id) => `mutation { id: revokeSession(id: "${id}") }`],
};
/** Work with what somebody else had made, or starts as if it were theirs. */
const USES: Operations = {
  workflow: [
    (id) => `mutation { runComfyWorkflow(input: { workflowName: "${id}", version: 1 }) { id } }`,
    (id) => `mutation { runComfyWorkflow(input: { model: "workflow/${id}", version: 1 }) { id } }`,
  ],
  voice: [
    (id) =>
      `mutation { synthesizeSpeech(input: { generator: "speech_router", text: "Hi", voiceId: "${id}" }) { id } }`,
    (id) =>
      `mutation { cloneVoice(input: { generator: "speech_router", sample: { url: "https://a.example/a.wav" }, voiceId: "${id}" }) { id } }`,
  ],
  character: [
    (id) =>
      `mutation { generateCharacterImage(input: { characterId: "${id}", prompt: "on a horse" }) { id } }`,
  ],
  avatarSource: [(id) => `mutation { createAvatar(input: { videoId: "${id}" }) { id } }`],
  avatar: [(id) => `mutation { generateAvatarVideo(input: { digitalId: "${id}", text: "Hi" }) { id } }`],
};
/** Bytes of others by id or address, where addresses expire: elsewhere they are public. */
const BYTES: Operations = {
  file: [(id) => `mutation { describeImage(generator: "imga", image: { fileId: "${id}" }) { id } }`],
  providerFile: [(id) => `mutation { describeImage(generator: "imga", image: { fileId: "${id}" }) { id } }`],
  providerUri: [
    (uri) =>
      `mutation { analyzeMedia(input: { generator: "llm/altllm", prompt: "what is it?", media: { url: "${uri}" } }) { id } }`,
  ],
};

/** What somebody's id stands for in the REST tables. */
const PARAMS: Readonly<Record<string, string>> = {
  task_id: 'task',
  taskId: 'executionTask',
  paymentId: 'payment',
  payment_id: 'payment',
  voice_id: 'voice',
  character_id: 'character',
  video_id: 'avatarSource',
  digital_id: 'avatar',
  file_id: 'file',
};

/** Everything that somebody owns, asked for by its id by everybody else, over every transport. */
export const othersIds: AttackClass = {
  name: 'ids of others',
  modes,
  isQuick: true,
  async run(world) {
    const asked = Object.entries(world.owned).flatMap(([whose, ids]) => [
      ...Object.entries(world.attackers).flatMap(([who, headers]) => {
        const asking = { who: `${who}, ${whose}'s`, headers, ids };
        return [byGraphql(world, asking), byRest(world, asking), asOwn(world, asking)];
      }),
      send(world, { who: `another key, ${whose}'s`, headers: world.key, ids }, [CHANGES, USES], ['HTTP']),
    ]);
    return (await Promise.all(asked)).flat();
  },
};

interface IdRequest {
  readonly who: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly ids: Belongings;
}

async function byGraphql(world: World, asking: IdRequest): Promise<Attempt[]> {
  const hasSecretFiles = world.mode === 'production' || world.mode === 'split';
  const operations = [READS, CHANGES, USES, ...(hasSecretFiles ? [BYTES] : [])];
  return [
    ...(await send(world, asking, operations, ['HTTP', 'server-sent events', 'WebSocket'])),
    ...(await send(world, asking, [FOLLOWS], ['server-sent events', 'multipart', 'WebSocket'])),
    ...(await lists(world, asking)),
  ];
}

async function send(
  { url, mode }: World,
  { who, headers, ids }: IdRequest,
  operations: readonly Operations[],
  over: readonly string[],
): Promise<Attempt[]> {
  const asked = operations.flatMap((kinds) =>
    Object.entries(kinds).flatMap(([kind, makes]) => {
      const id = ids[kind];
      // In open mode lists name whom they like.
      if (id === undefined || (mode === 'open' && kind === 'user')) return [];
      return makes.map((make) => make(id));
    }),
  );
  const attempts: Attempt[] = [];
  for (const query of asked) {
    // The browser that comes back from a checkout has no credential: the id, which is in no list, is its proof.
    if (/cancelPayment/.test(query) && who.startsWith('anonymous')) continue;
    // In open mode everybody is an administrator of payments.
    if (/refundPayment/.test(query) && mode === 'open') continue;
    for (const transport of over) {
      const answer = (await transports[transport]?.(url, query, headers)) ?? '';
      attempts.push({
        what: `${who}: ${query.slice(0, 60)} over ${transport}`,
        answer: told(answer),
        succeeded: isFound(answer),
      });
    }
  }
  return attempts;
}

async function lists({ url }: World, { who, headers, ids }: IdRequest): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  for (const query of LISTS) {
    const answer = (await transports['HTTP']?.(url, query, headers)) ?? '';
    const named = Object.values(ids).some((id) => answer.includes(id));
    attempts.push({ what: `${who}: ${query}`, answer: told(answer), succeeded: named });
  }
  return attempts;
}

/** Data that is more than nulls and empty lists; that it is too late for a change says that there is something. */
function isFound(answer: string): boolean {
  // Refused for what it is not about.
  if (answer.includes('GRAPHQL_VALIDATION_FAILED')) throw new Error(`no attack: ${answer}`);
  return /"(?:id|seq|state|ppSessionId|parameters)":(?!null|false)|TOO_LATE/.test(answer);
}

/** Every route that takes an id, with the ids of others. */
async function byRest({ url, mode }: World, { who, headers, ids }: IdRequest): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  for (const route of policy.routes) {
    const { path, params, method } = route.route;
    const given = Object.fromEntries(
      Object.keys(params).flatMap((name) => {
        const id = name === 'userId' ? ids['user'] : ids[PARAMS[name] ?? ''];
        return id === undefined ? [] : [[name, id] as const];
      }),
    );
    const namesUserOnly = Object.keys(given).every((name) => name === 'userId');
    if (Object.keys(given).length === 0 || (mode === 'open' && (namesUserOnly || /refund/.test(path))))
      continue;
    // Coming back from a checkout ends it, by the id that is in no list.
    if (path === '/payment/cancel') continue;
    const { status, body } = await sendRoute(
      url,
      routeCall(route, { userId: ids['user'] ?? 'none', given }),
      headers,
    );
    const text = JSON.stringify(body);
    const isRefused = status >= 400 || body?.status === false || isEmpty(body?.data);
    attempts.push({
      what: `${who}: ${method} ${path}`,
      answer: `${status} ${told(text)}`,
      succeeded: !isRefused,
    });
  }
  return attempts;
}

/** Nothing, or pages of nothing. */
function isEmpty(data: unknown): boolean {
  if (Array.isArray(data)) return data.length === 0;
  if (typeof data !== 'object' || data === null) return data === null || data === undefined || data === 0;
  return Object.values(data).every((value) => isEmpty(value) || typeof value === 'number');
}

/** A start that is repeated under somebody else's Idempotency-Key is a start of one's own. */
async function asOwn({ url }: World, { who, headers, ids }: IdRequest): Promise<Attempt[]> {
  const { idempotencyKey, task } = ids;
  if (idempotencyKey === undefined || task === undefined) return [];
  const query = `mutation { createTask(taskType: "tea", prompt: "mine", callbackUrl: "https://mine.example/", idempotencyKey: "${idempotencyKey}") { id } }`;
  const { body } = await rest(url, 'POST', '/graphql', { query }, headers);
  return [
    {
      what: `${who}: createTask under their Idempotency-Key`,
      answer: told(body),
      succeeded: JSON.stringify(body).includes(task),
    },
  ];
}
