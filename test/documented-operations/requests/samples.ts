import workflows from '../../../subgraphs/media/comfy-workflows/bundled-workflows.json' with { type: 'json' };
import { silence } from '../../kit/samples/wav.ts';
import type { Documented, Field } from '../documents/operation.ts';
import type { LiveServer } from './live-server.ts';
import type { Sent } from './send.ts';

/** Values of the documented inputs, by their names. */

type Sample = (world: LiveServer, field: Field, operation: Documented) => unknown;

const textToImage = workflows.find(({ name }) => name === 'text-to-image');
const lipSync = 'POST /api/agg/lipsync/v3/file/upload';

const byName: Readonly<Record<string, Sample>> = {
  task_id: () => '0199aaaa-0000-7000-8000-000000000000',
  template_id: () => 2_147_483_647,
  task_type: () => 'tea',
  prompt: () => 'a boat',
  text: () => 'Good morning to everyone who hears this.',
  // A voice is cloned from what is heard.
  file: ({ files }, _field, { path }) => (path.endsWith('/voice/clone') ? files.recording() : files.image()),
  img_file: ({ files }) => files.image(),
  local_file: ({ files }) => files.image(),
  tail_img_file: ({ files }) => files.image(),
  audio_file: ({ files }) => files.recording(),
  video_file: ({ files }) => files.video(),
  img_input: ({ links }) => links.image(),
  audio_input: ({ links }) => links.recording(),
  img_url: ({ links }) => links.image(),
  cover_url: ({ links }) => links.image(),
  tail_img_url: ({ links }) => links.image(),
  first_img_url: ({ links }) => links.image(),
  last_img_url: ({ links }) => links.image(),
  img_urls: ({ links }) => links.image(),
  media_url: ({ links }) => links.image(),
  imageUrl: ({ links }) => links.image(),
  audio_url: ({ links }) => links.recording(),
  video_url: ({ links }) => links.video(),
  img_id: async (world) => (await world.once(lipSync)).body.data,
  character_id: async (world) =>
    (await world.ended('POST /api/custom/extend/charv/create/character'))['character_id'],
  video_id: async (world) => (await world.ended('POST /api/cloud/digital/url2vid'))['video_id'],
  digital_id: async (world) => (await world.ended('POST /api/cloud/digital/create'))['digital_id'],
  audio_id: async (world) => (await world.uploaded(lipSync, await world.files.recording())).body.data,
  file_id: async (world) => (await world.once('POST /api/agg/speech_router/sync/file/upload')).body.data,
  workflow: (_, { type }) => (type === 'json' ? JSON.stringify(textToImage?.workflow) : 'image'),
  workflow_name: () => 'text-to-image',
  imageModel: () => 'gpt-image-1',
  inputs: () => '{"prompt":"a boat"}',
  messages: () => '[{"role":"user","content":"What is 6 * 7?"}]',
  ar: () => '16:9',
  // What the models behind these paths take.
  duration: (_world, _field, { path }) => (path.includes('vidb') ? 6 : 5),
  resolution: (_world, _field, { path }) =>
    path.includes('vidb') ? '768P' : path.includes('extend/frame') ? '1080p' : '720p',
  emotion: () => 'happy',
  format: () => 'wav',
  version: () => '1.0.0',
  code: () => 'poster',
  templateCode: () => 'poster',
  userId: () => 'somebody',
  templateCodes: () => ['poster'],
  operation: () => 'sync_pp',
};

const byType: Readonly<Record<string, unknown>> = {
  integer: 1,
  number: 1,
  boolean: true,
  json: '{}',
  object: {},
  array: ['a'],
};

/** What goes along with one of a group, in the place of what goes along with another. */
export const companions: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  workflow: { inputs: undefined },
  workflow_name: { inputs: '{"prompt":"a boat"}' },
};

/** A value that fits an input. */
export async function makeSample(world: LiveServer, operation: Documented, field: Field): Promise<unknown> {
  const { name, type, enum: allowed = [], known = [] } = field;
  const [word] = [...allowed, ...known];
  return word ?? (await byName[name]?.(world, field, operation)) ?? byType[type] ?? 'some words';
}

/** A request with these inputs and no others. */
export async function requestWith(
  world: LiveServer,
  operation: Documented,
  isSent: (field: Field) => boolean,
): Promise<Sent> {
  const makeEntries = (fields: readonly Field[]) =>
    Promise.all(
      fields
        .filter(isSent)
        .map(async (field) => [field.name, await makeSample(world, operation, field)] as const),
    );
  const { params, body } = operation;
  const fields = Object.fromEntries(await makeEntries(body?.fields ?? []));
  const isEmpty = Object.keys(fields).length === 0 && !(body?.type === 'application/json' && body.required);
  return {
    params: Object.fromEntries(await makeEntries(params)) as Sent['params'],
    body: isEmpty ? null : fields,
  };
}

/** A request with everything that is needed and not given: of each group a link, a text or a name, else a file. */
export async function neededRequest(
  world: LiveServer,
  operation: Documented,
  isGiven: (name: string) => boolean,
): Promise<Sent> {
  const groups = (operation.body?.oneOf ?? []).map((names) => findPlainest(operation, names));
  return requestWith(
    world,
    operation,
    ({ required, name }) => !isGiven(name) && (required || groups.includes(name)),
  );
}

function findPlainest({ body }: Documented, names: readonly string[]): string | undefined {
  const fields = (body?.fields ?? []).filter(({ name }) => names.includes(name));
  const plain = fields.find(({ type, name }) => type !== 'file' && !name.endsWith('_id'));
  return (plain ?? fields.find(({ type }) => type === 'file'))?.name;
}

/** Long enough for a voice to be cloned. */
const recording = new File([silence(12)], 'a.wav', { type: 'audio/wav' });

/**
 * A request that is sound in form, with values that need not lead to anything: what mistakes are put into. Nothing has
 * to be made for it.
 */
export function makeForm(operation: Documented): Sent {
  const makeValue = (field: Field): unknown => {
    if (field.type === 'file') return recording;
    const [word = byType[field.type] ?? 'some-words'] = field.enum ?? [];
    return word;
  };
  const needed = (fields: readonly Field[]) =>
    Object.fromEntries(
      fields.filter(({ required }) => required).map((field) => [field.name, makeValue(field)]),
    );
  const { params, body } = operation;
  const fields = needed(body?.fields ?? []);
  const isEmptyForm = Object.keys(fields).length === 0 && body?.type !== 'application/json';
  return { params: needed(params) as Sent['params'], body: isEmptyForm ? null : fields };
}
