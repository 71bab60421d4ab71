import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { graphql, rest, until } from '../../test/kit/clients/requests.ts';
import { silence } from '../../test/kit/samples/wav.ts';
import type { Belongings } from './attack.ts';

/** One of everything that somebody can own, made as they would make it. A new kind of thing is a line here and in classes/ids.ts. */

export interface Owner {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Their id; null for a service key. */
  readonly user: string | null;
  /** What starts work that others have to pay for. */
  readonly admin: Readonly<Record<string, string>>;
}

const TASK = 'taskType: "tea", prompt: "mine"';
/** For what ends soon, on a machine that has other things to do. */
const LONGEST_MS = 120_000;

/** Kinds that a mode has nothing for (no payments in production, no avatars without a public address) are left out. */
export async function createBelongings(owner: Owner): Promise<Belongings> {
  const groups = await Promise.all([
    createTask(owner),
    createFiles(owner),
    createPurchases(owner),
    readSession(owner),
    createConversation(owner),
    createWorkflow(owner),
    createVoice(owner),
    createCharacter(owner),
    createAvatar(owner),
  ]);
  const found = Object.entries(Object.assign({}, ...groups) as Record<string, string | null | undefined>);
  return Object.fromEntries(found.flatMap(([kind, id]) => (typeof id === 'string' ? [[kind, id]] : [])));
}

/** A task, and the delivery of another one's end. */
async function createTask({ url, headers }: Owner) {
  const idempotencyKey = `mine-${Math.random()}`;
  const { id: task } = await asked(url, headers, `createTask(${TASK}, idempotencyKey: "${idempotencyKey}")`);
  const { id } = await asked(url, headers, `createTask(${TASK}, callbackUrl: "https://mine.example/")`);
  await asked(url, headers, `cancelTask(id: "${id}")`);
  const query = `{ webhookDeliveries(taskId: "${id}") { id } }`;
  const [delivery] = await until(
    async () => (await graphql(url, query, {}, headers)).data.webhookDeliveries as { readonly id: string }[],
    (list) => list.length > 0,
    LONGEST_MS,
  );
  return { task, delivery: delivery?.id, idempotencyKey };
}

async function createFiles({ url, headers }: Owner) {
  const { id } = await uploaded(url, headers, image());
  const copied = await uploadedBy(
    { url, headers },
    'uploadToProvider(generator: "llm/altllm", file: $file) { id uri }',
  );
  const { blake3 } = await uploadedBy({ url, headers }, 'uploadFile(file: $file, blake3: true) { blake3 }');
  return { file: id, fileHash: blake3, providerUri: copied['uri'], providerFile: copied['id'] };
}

async function createPurchases({ url, headers, user, admin }: Owner) {
  const run = `mutation { executeTemplate(code: "poster", parameters: { prompt: "mine" }${user === null ? '' : `, onBehalfOf: "${user}"`}) { id taskId } }`;
  const execution = (await graphql(url, run, {}, admin)).data?.executeTemplate;
  if (user === null) return { execution: execution?.id, executionTask: execution?.taskId };
  const buy = `mutation { checkout(templateCode: "poster", userId: "${user}", parameters: { prompt: "mine" }) { sessionId payment { id } } }`;
  const payment = (await graphql(url, buy, {}, headers)).data?.checkout;
  return {
    execution: execution?.id,
    executionTask: execution?.taskId,
    payment: payment?.payment.id,
    paymentSession: payment?.sessionId,
  };
}

async function readSession({ url, headers, user }: Owner) {
  if (user === null) return {};
  const { data } = await graphql(url, '{ sessions { id } }', {}, headers);
  return { user, session: data.sessions[0].id };
}

async function createConversation({ url, headers }: Owner) {
  const id = randomUUID();
  await asked(
    url,
    headers,
    `saveConversation(id: "${id}", input: { title: "mine", generator: "llm", messages: [{ id: "${id}", role: USER, text: "mine" }] })`,
  );
  return { conversation: id };
}

/** A graph that its owner has saved and not published: its name is its id. */
async function createWorkflow({ url, headers }: Owner) {
  const name = `mine-${randomUUID().slice(0, 8)}`;
  const graph =
    '{ a: { class_type: "EmptyImage", inputs: { width: 16, height: 16, batch_size: 1, color: 0 } }, b: { class_type: "SaveImage", inputs: { images: ["a", 0], filename_prefix: "mine" } } }';
  await asked(url, headers, `saveWorkflow(name: "${name}", graph: ${graph}, description: "mine")`);
  return { workflow: name };
}

/** Two callers can't give their voices the same name. */
async function createVoice({ url, headers, user }: Owner) {
  const { id: sample } = await uploaded(
    url,
    headers,
    new File([silence(12)], 'mine.wav', { type: 'audio/wav' }),
  );
  const voice = user === null ? 'VoiceOfTheKey01' : 'VoiceOfTheUser01';
  const input = `{ generator: "speech_router", sample: { fileId: "${sample}" }, voiceId: "${voice}" }`;
  await made({ url, headers }, `cloneVoice(input: ${input})`);
  return { voice };
}

async function createCharacter({ url, headers }: Owner) {
  const { id } = await uploaded(url, headers, image());
  const { characterId } = await made(
    { url, headers },
    `createCharacter(input: { name: "mine", images: [{ fileId: "${id}" }] })`,
  );
  return { character: characterId };
}

/** Avatars are made of what the provider fetches: without a public address there are none. */
async function createAvatar({ url, headers }: Owner) {
  const { data } = await graphql(url, '{ models(generator: "cloud/digital") { id } }', {}, headers);
  if (!data?.models || data.models.length === 0) return {};
  const clip = await readFile(new URL('../../sandbox/studio/instant/clip.mp4', import.meta.url));
  const { id } = await uploaded(
    url,
    headers,
    new File([Uint8Array.from(clip)], 'me.mp4', { type: 'video/mp4' }),
  );
  const source = await made({ url, headers }, `uploadAvatarSource(source: { fileId: "${id}" })`);
  const avatar = await made({ url, headers }, `createAvatar(input: { videoId: "${source.videoId}" })`);
  return { avatarSource: source.videoId, avatar: avatar.digitalId };
}

const RESULT =
  '... on ClonedVoice { voice { id } } ... on Character { characterId } ... on AvatarSource { videoId } ... on Avatar { digitalId }';

/** A mutation of one field that answers an id. */
async function asked(
  url: string,
  headers: Owner['headers'],
  field: string,
): Promise<{ readonly id: string }> {
  const { data, errors } = await graphql(url, `mutation { made: ${field} { id } }`, {}, headers);
  if (!data?.made) throw new Error(`nothing to own: ${JSON.stringify(errors)}`);
  return data.made;
}

/** Starts work and answers what it made. */
async function made(
  { url, headers }: Pick<Owner, 'url' | 'headers'>,
  field: string,
): Promise<Readonly<Record<string, string | undefined>>> {
  const { id } = await asked(url, headers, field);
  const query = `{ task(id: "${id}") { state error { message } result { ${RESULT} } } }`;
  const { state, error, result } = await until(
    async () => (await graphql(url, query, {}, headers)).data.task,
    (task) => ['SUCCEEDED', 'FAILED'].includes(task.state),
    LONGEST_MS,
  );
  if (state === 'FAILED') throw new Error(`nothing to own: ${JSON.stringify(error)}`);
  return result;
}

async function uploaded(
  url: string,
  headers: Owner['headers'],
  file: File,
): Promise<{ readonly id: string }> {
  const form = new FormData();
  form.set('file', file);
  const { body } = await rest(url, 'POST', '/api/file/upload', form, headers);
  return { id: body.extra.key };
}

/** Sends an image along with a mutation of one field. */
async function uploadedBy({ url, headers }: Pick<Owner, 'url' | 'headers'>, field: string) {
  const form = new FormData();
  const query = `mutation ($file: Upload!) { made: ${field} }`;
  form.set('operations', JSON.stringify({ query, variables: { file: null } }));
  form.set('map', '{"0":["variables.file"]}');
  form.set('0', image());
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'apollo-require-preflight': 'true', ...headers },
    body: form,
  });
  const { data, errors } = (await answer.json()) as {
    readonly data: { readonly made: Readonly<Record<string, string | null>> | null } | null;
    readonly errors?: unknown;
  };
  const found = data?.made ?? null;
  if (found === null) throw new Error(`nothing to own: ${JSON.stringify(errors)}`);
  return found;
}

function image(): File {
  const pixel =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
  return new File([Uint8Array.from(Buffer.from(pixel, 'base64'))], 'mine.png', { type: 'image/png' });
}
