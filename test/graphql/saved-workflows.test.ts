import { createHash } from 'node:crypto';

import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { call } from '../../faces/mcp/mcp-client.fixture.ts';
import { mediaDatabase } from '../../subgraphs/media/database/database.ts';
import { createPersonalData } from '../../subgraphs/media/personal-data/personal-data.ts';
import { graphql, until } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/** ComfyUI graphs as functions: saved, tried out, published, called by every face, and refused where no machine has what they need. */

const ROOT = 'secret-of-root';
const secrets = { root: ROOT, anna: '', boris: '' };
type Name = keyof typeof secrets;
const toHeaders = (name: Name) => ({ authorization: `Bearer ${secrets[name]}` });

let kiln: KilnUnderTest;
beforeAll(async () => {
  const root = createHash('sha256').update(ROOT).digest('hex');
  kiln = await startKiln({
    isQuick: true,
    settings: { REST_AUTH: 'required', SERVICE_KEYS: `root=${root}` },
  });
  const create =
    'mutation ($name: String!) { createServiceKey(name: $name, scopes: ["read", "start", "manage"]) { secret } }';
  for (const name of ['anna', 'boris'] as const) {
    secrets[name] = (await ok('root', create, { name })).createServiceKey.secret as string;
  }
});
afterAll(() => kiln?.close());

async function ok(name: Name, query: string, variables: Record<string, unknown> = {}) {
  const { data, errors } = await graphql(kiln.url, query, variables, toHeaders(name));
  expect(errors).toBeUndefined();
  return data;
}

async function refusal(name: Name, query: string, variables: Record<string, unknown> = {}) {
  const { errors } = await graphql(kiln.url, query, variables, toHeaders(name));
  expect(errors).toHaveLength(1);
  return { message: errors?.[0]?.message ?? '', ...errors?.[0]?.extensions };
}

function comfy(name: Name, workflow: object): Promise<Response> {
  const body = JSON.stringify({ workflow });
  return fetch(`${kiln.url}/api/v2/jobs`, { method: 'POST', headers: toHeaders(name), body });
}

async function ended(name: Name, id: string) {
  const query =
    '{ task(id: "ID") { state error { message } outputs { width height } input { options } } }'.replace(
      'ID',
      id,
    );
  const { task } = await until(
    () => ok(name, query),
    ({ task: one }) => /SUCC|FAIL/.test(one.state),
    30_000,
  );
  return task;
}

const makeGraph = (color: number) => ({
  1: { class_type: 'EmptyImage', inputs: { width: 64, height: 32, batch_size: 1, color } },
  2: {
    class_type: 'ImageScale',
    inputs: { image: ['1', 0], width: 32, height: 16, upscale_method: 'area', crop: 'disabled' },
  },
  3: { class_type: 'PreviewImage', inputs: { images: ['1', 0] } },
  4: { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'small' } },
});
const inputs = [
  { name: 'width', type: 'INTEGER', at: ['2.width'], default: 32, minimum: 16, maximum: 512 },
  { name: 'height', type: 'INTEGER', at: ['2.height'], default: 16, minimum: 16, maximum: 512 },
];
const SAVE =
  'mutation ($graph: JSON!, $name: ID!, $inputs: [WorkflowParameterInput!]) { saveWorkflow(name: $name, graph: $graph, inputs: $inputs, description: "Small images") { id mine versions { number missing needs { classes models } inputs { name type required default } outputs { name node type } } } }';
const PUBLISH =
  'mutation ($version: Int!) { publishWorkflow(id: "small", version: $version) { published previous } }';
const RUN = 'mutation ($input: ComfyWorkflowInput!) { runComfyWorkflow(input: $input) { id } }';

describe('a saved workflow', () => {
  it('is found from its graph, tried out by its owner alone, and published', async () => {
    const name = 'small';
    const { saveWorkflow } = await ok('anna', SAVE, { name, graph: makeGraph(0), inputs });
    const needs = { classes: ['EmptyImage', 'ImageScale', 'PreviewImage', 'SaveImage'], models: [] };
    expect(saveWorkflow).toMatchObject({
      id: name,
      mine: true,
      versions: [{ number: 1, missing: [], needs, outputs: [{ name: 'image', node: '4', type: 'image' }] }],
    });
    const query =
      '{ savedWorkflow(id: "small") { model versions { published graph inputs { name minimum maximum multipleOf values at } } } }';
    const [width, height] = inputs.map(({ name: input, at, minimum, maximum }) => {
      return { name: input, at, minimum, maximum, multipleOf: null, values: null };
    });
    expect((await ok('anna', query)).savedWorkflow).toEqual({
      model: 'workflow/small',
      versions: [{ published: false, graph: makeGraph(0), inputs: [width, height] }],
    });
    const own = { workflowName: name, version: 1, inputs: { width: 48 } };
    const { runComfyWorkflow } = await ok('anna', RUN, { input: own });
    expect(await ended('anna', runComfyWorkflow.id as string)).toMatchObject({
      state: 'SUCCEEDED',
      outputs: [{ width: 48, height: 16 }],
      input: { options: { workflowName: name, workflowVersion: 1 } },
    });
    expect(await refusal('boris', RUN, { input: own })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await refusal('boris', SAVE, { name, graph: makeGraph(0) })).toMatchObject({ code: 'CONFLICT' });
    expect(await refusal('boris', PUBLISH, { version: 1 })).toMatchObject({ code: 'NOT_FOUND' });
    const unpublished = { workflowName: name };
    expect(await refusal('boris', RUN, { input: unpublished })).toMatchObject({ field: 'workflowName' });
    expect(await refusal('anna', PUBLISH, { version: 2 })).toMatchObject({ field: 'version' });
    const { publishWorkflow } = await ok('anna', PUBLISH, { version: 1 });
    expect(publishWorkflow).toEqual({ published: 1, previous: null });
    const rollBack = 'mutation { rollBackWorkflow(id: "small") { published } }';
    expect(await refusal('anna', rollBack)).toMatchObject({ code: 'BAD_USER_INPUT', field: 'name' });
    const { savedWorkflow } = await ok(
      'boris',
      '{ savedWorkflow(id: "workflow/small") { mine owner published versions { number graph missing } } }',
    );
    expect(savedWorkflow).toEqual({
      mine: false,
      owner: null,
      published: 1,
      versions: [{ number: 1, graph: null, missing: null }],
    });
  });

  const width = { name: 'width', type: 'INTEGER', at: ['2.width'] };
  const output = { name: 'small', node: '4', type: 'image' };

  it.each<readonly [string, string, Record<string, unknown>]>([
    ['an upper-case name', 'name', { name: 'Poster' }],
    ['the name of one that comes with Kiln', 'name', { name: 'text-to-image' }],
    ['what is no graph', 'graph', { graph: {} }],
    ['a long description', 'description', { description: 'x'.repeat(2_001) }],
    ['65 inputs', 'inputs', { inputs: Array.from({ length: 65 }, () => width) }],
    ['an input twice', 'inputs', { inputs: [width, width] }],
    ['an input of no name', 'inputs[0].name', { inputs: [{ ...width, name: '2nd' }] }],
    ['an input without a place', 'inputs[0].at', { inputs: [{ ...width, at: [] }] }],
    ['an input that a node makes', 'inputs[0].at', { inputs: [{ ...width, at: ['2.image'] }] }],
    ...['constructor.name', '__proto__.toString', '1.constructor', 'toString', '9.width'].map(
      (place) => [`an input at ${place}`, 'inputs[0].at', { inputs: [{ ...width, at: [place] }] }] as const,
    ),
    ['values of a number', 'inputs[0].values', { inputs: [{ ...width, values: ['1'] }] }],
    ['bounds of a text', 'inputs[0]', { inputs: [{ ...width, type: 'TEXT', maximum: 9 }] }],
    ['bounds that cross', 'inputs[0].minimum', { inputs: [{ ...width, minimum: 9, maximum: 8 }] }],
    ['multiples of 0', 'inputs[0].multipleOf', { inputs: [{ ...width, multipleOf: 0 }] }],
    ['a usual file', 'inputs[0].default', { inputs: [{ ...width, type: 'FILE', default: 7 }] }],
    ['a default beyond', 'inputs[0].default', { inputs: [{ ...width, maximum: 8, default: 9 }] }],
    ['no outputs', 'outputs', { outputs: [] }],
    ['an output twice', 'outputs', { outputs: [output, output] }],
    ['an output of no name', 'outputs[0].name', { outputs: [{ ...output, name: '' }] }],
    ['an output of no node', 'outputs[0].node', { outputs: [{ ...output, node: 'constructor' }] }],
    ['an output of no type', 'outputs[0].type', { outputs: [{ ...output, type: 'smell' }] }],
  ])('is refused with %s, and names %s', async (_, field, change) => {
    const save =
      'mutation ($name: ID!, $graph: JSON!, $description: String, $inputs: [WorkflowParameterInput!], $outputs: [WorkflowOutputInput!]) { saveWorkflow(name: $name, graph: $graph, description: $description, inputs: $inputs, outputs: $outputs) { id } }';
    const answer = await refusal('anna', save, { name: 'none', graph: makeGraph(0), ...change });
    expect(answer).toMatchObject({ code: expect.stringMatching(/^(BAD_USER_INPUT|CONFLICT)$/), field });
  });

  it('is called by whoever may: over GraphQL, REST, OpenAI, MCP and Comfy, with typed inputs', async () => {
    const models = '{ models(category: "workflow") { id model name optionsSchema } }';
    const listed = (await ok('boris', models)).models.find(
      ({ model }: { model: string }) => model === 'workflow/small',
    );
    expect(listed).toMatchObject({
      id: 'comfy:workflow/small',
      name: 'Small images',
      optionsSchema: { properties: { width: { type: 'integer', minimum: 16, maximum: 512, default: 32 } } },
    });
    const byModel = { model: 'workflow/small', options: { width: 40, height: 20 } };
    const { runComfyWorkflow } = await ok('boris', RUN, { input: byModel });
    const task = await ended('boris', runComfyWorkflow.id as string);
    expect(task).toMatchObject({ state: 'SUCCEEDED', outputs: [{ width: 40, height: 20 }] });
    expect(JSON.stringify(task.input)).not.toContain('EmptyImage');

    const sent = await fetch(`${kiln.url}/api/comfy/sync/execute/workflow/small`, {
      method: 'POST',
      headers: toHeaders('boris'),
      body: new URLSearchParams({ inputs: JSON.stringify({ width: 24 }) }),
    });
    expect(await sent.json()).toMatchObject({ status: true, data: { media: [{ width: 24, height: 16 }] } });

    const openai = new OpenAI({ apiKey: secrets.boris, baseURL: `${kiln.url}/v1`, maxRetries: 0 });
    const images = await openai.images.generate({
      model: 'workflow/small',
      prompt: 'any',
      size: '96x64',
    });
    const png = Buffer.from(images.data?.[0]?.b64_json ?? '', 'base64');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([96, 64]);
    expect((await openai.models.retrieve('workflow/small')).id).toBe('workflow/small');

    const options = { headers: toHeaders('boris'), knowsTasks: false };
    const found = await call(kiln.url, 'find_models', { kind: 'COMFY_WORKFLOW', text: 'small' }, options);
    expect(JSON.stringify(found.result)).toContain('comfy:workflow/small');
    const wanted = { workflow: 'workflow/small', inputs: { width: 72 } };
    const ran = await call(kiln.url, 'run_workflow', wanted, options);
    expect(JSON.stringify(ran.result)).toMatch(/72\D+16|image\/png/);

    const graph = { 1: { class_type: 'workflow/small', inputs: { width: 56 } } };
    const submitted = await comfy('boris', graph);
    expect(submitted.status).toBe(201);
    const { id } = (await submitted.json()) as { readonly id: string };
    expect(await ended('boris', id)).toMatchObject({
      state: 'SUCCEEDED',
      outputs: [{ width: 56, height: 16 }],
    });

    const wrong = { workflowName: 'small', inputs: { width: 8 } };
    expect(await refusal('boris', RUN, { input: wrong })).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'inputs.width',
    });
  });

  it.each([
    ['two names', 'workflow', { workflowName: 'small', model: 'workflow/small' }],
    ['inputs twice', 'options', { workflowName: 'small', inputs: {}, options: {} }],
    ['a version of one that has none', 'version', { workflowName: 'text-to-image', version: 1 }],
  ])('is not run by %s, and %s is named', async (_, field, input) => {
    expect(await refusal('boris', RUN, { input })).toMatchObject({ code: 'BAD_USER_INPUT', field });
  });

  it('is bounded by budgets like all work, by whichever face it is called', async () => {
    const create =
      'mutation { createBudget(scope: GENERATOR, subject: "comfy", input: { maxRunning: 0 }) { id } }';
    const { createBudget } = await ok('root', create);
    const byModel = { model: 'workflow/small' };
    expect(await refusal('boris', RUN, { input: byModel })).toMatchObject({ code: 'BUDGET_EXCEEDED' });
    const submitted = await comfy('boris', { 1: { class_type: 'workflow/small', inputs: {} } });
    expect([submitted.status, await submitted.json()]).toMatchObject([
      402,
      { error: { code: 'insufficient_credits' } },
    ]);
    await ok('root', 'mutation ($id: ID!) { deleteBudget(id: $id) { id } }', createBudget);
  });

  it('is rolled back, withdrawn and removed by its owner, and each stands in the audit log', async () => {
    const { saveWorkflow } = await ok('anna', SAVE, { name: 'small', graph: makeGraph(255) });
    expect(saveWorkflow.versions.map(({ number }: { number: number }) => number)).toEqual([2, 1]);
    expect((await ok('anna', PUBLISH, { version: 2 })).publishWorkflow).toEqual({
      published: 2,
      previous: 1,
    });
    const change = (field: string) =>
      ok('anna', `mutation { ${field}(id: "small") { published previous } }`).then((data) => data[field]);
    expect(await change('rollBackWorkflow')).toEqual({ published: 1, previous: 2 });
    expect(await change('withdrawWorkflow')).toEqual({ published: null, previous: 1 });
    const { rows: owners } = await kiln.runtime.database.pool.query<{ owner: string }>(
      `select owner from media.workflows where name = 'small'`,
    );
    const kept = createPersonalData(mediaDatabase(kiln.runtime.database));
    const records = await kept.read(owners[0]?.owner ?? '', null, 1_000);
    const workflow = records.find(({ kind }) => kind === 'workflow');
    expect(workflow?.data).toMatchObject({ name: 'small', versions: [{ number: 1 }, { number: 2 }] });
    const { rows: callers } = await kiln.runtime.database.pool.query<{ owner: string }>(
      'select distinct owner from media.tasks where owner <> $1',
      [owners[0]?.owner],
    );
    expect(callers).toHaveLength(1);
    const called = await kept.read(callers[0]?.owner ?? '', null, 1_000);
    expect(called.filter(({ kind }) => kind === 'task').length).toBeGreaterThan(3);
    expect(JSON.stringify(called)).not.toContain('EmptyImage');
    expect(await change('deleteWorkflow')).toMatchObject({ published: null });
    expect((await ok('anna', '{ savedWorkflow(id: "small") { id } }')).savedWorkflow).toBeNull();
    const { rows } = await kiln.runtime.database.pool.query<{ what: string }>(
      `select what from audit.entries where target = 'small' order by id`,
    );
    expect(rows.map(({ what }) => what)).toEqual([
      'publishWorkflow',
      'publishWorkflow',
      'rollBackWorkflow',
      'withdrawWorkflow',
      'deleteWorkflow',
    ]);
  });
});

describe('a graph', () => {
  const needy = (checkpoint: string) => ({
    1: { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: checkpoint } },
    2: { class_type: 'CLIPTextEncode', inputs: { text: 'a boat', clip: ['1', 1] } },
    3: { class_type: 'CLIPTextEncode', inputs: { text: 'blurred', clip: ['1', 1] } },
    4: { class_type: 'EmptyLatentImage', inputs: { width: 64, height: 64, batch_size: 1 } },
    5: {
      class_type: 'KSampler',
      inputs: {
        model: ['1', 0],
        positive: ['2', 0],
        negative: ['3', 0],
        latent_image: ['4', 0],
        seed: 7,
        steps: 4,
        cfg: 8,
        denoise: 1,
        sampler_name: 'euler',
        scheduler: 'normal',
      },
    },
    6: { class_type: 'VAEDecode', inputs: { samples: ['5', 0], vae: ['1', 2] } },
    7: { class_type: 'SaveImage', inputs: { images: ['6', 0], filename_prefix: 'x' } },
  });

  it('offers its prompts, seeds, sizes and models as inputs', async () => {
    const query =
      'query ($graph: JSON!) { proposedWorkflow(graph: $graph) { inputs { name type at default } outputs { name node } } }';
    const { proposedWorkflow } = await ok('anna', query, { graph: needy('sd_xl_base_1.0.safetensors') });
    const names = proposedWorkflow.inputs.map(({ name, at }: { name: string; at: string[] }) => [
      name,
      at[0],
    ]);
    expect(Object.fromEntries(names)).toEqual({
      checkpoint: '1.ckpt_name',
      prompt: '2.text',
      negativePrompt: '3.text',
      width: '4.width',
      height: '4.height',
      count: '4.batch_size',
      seed: '5.seed',
      steps: '5.steps',
      cfg: '5.cfg',
      denoise: '5.denoise',
    });
    expect(proposedWorkflow.outputs).toEqual([{ name: 'image', node: '7' }]);
  });

  it('offers the files that it loads, how long a film is, and what it ends in', async () => {
    const load = (name: string, input: string) => ({ class_type: name, inputs: { [input]: 'a.bin' } });
    const graph = {
      1: load('LoadImage', 'image'),
      2: load('LoadImage', 'image'),
      3: load('LoadImageMask', 'image'),
      4: load('LoadAudio', 'audio'),
      5: load('VHS_LoadVideo', 'video'),
      6: { class_type: 'Film', inputs: { length: 81, frame_rate: 24, from: ['1', 0], of: ['6', 0] } },
      7: { class_type: 'SaveWEBM', inputs: { image: ['6', 0], over: ['5', 0] } },
      8: { class_type: 'SaveAudioMP3', inputs: { audio: ['4', 0] } },
      9: { class_type: 'PreviewAny', inputs: { source: ['2', 0] } },
      10: { class_type: 'SaveLatent', inputs: { mask: ['3', 0] } },
    };
    const query =
      'query ($graph: JSON!) { proposedWorkflow(graph: $graph) { inputs { name type required at maximum } outputs { name node type } } }';
    const { proposedWorkflow } = await ok('anna', query, { graph });
    const file = (name: string, ...at: string[]) => ({
      name,
      type: 'FILE',
      required: true,
      at,
      maximum: null,
    });
    const number = (name: string, type: string, at: string, maximum: number) => {
      return { name, type, required: false, at: [at], maximum };
    };
    expect(proposedWorkflow).toEqual({
      inputs: [
        file('image', '1.image'),
        file('image2', '2.image'),
        file('mask', '3.image'),
        file('audio', '4.audio'),
        file('video', '5.video'),
        number('length', 'INTEGER', '6.length', 1_000),
        number('fps', 'NUMBER', '6.frame_rate', 120),
      ],
      outputs: [
        { name: 'video', node: '7', type: 'video' },
        { name: 'audio', node: '8', type: 'audio' },
        { name: 'file', node: '10', type: 'file' },
      ],
    });
    const { outputs } = (
      await ok('anna', query, { graph: { 1: graph[1], 9: { ...graph[9], inputs: { source: ['1', 0] } } } })
    ).proposedWorkflow;
    expect(outputs).toEqual([{ name: 'text', node: '9', type: 'text' }]);
  });

  it('offers names that can be saved, whatever its models are called in it', async () => {
    const loader = {
      class_type: 'CheckpointLoaderSimple',
      inputs: {
        ckpt_name: 'a.ckpt',
        模型_name: 'b.ckpt',
        '4x_up_name': 'c.ckpt',
        ['x'.repeat(70)]: 'd.ckpt',
      },
    };
    const graph = { ...makeGraph(0), 5: loader };
    const query = 'query ($graph: JSON!) { proposedWorkflow(graph: $graph) { inputs { name type at } } }';
    const proposed = (await ok('anna', query, { graph })).proposedWorkflow.inputs;
    const named = new Map(proposed.map(({ name, at }: { name: string; at: string[] }) => [at[0], name]));
    expect(['5.ckpt_name', '5.模型_name', '5.4x_up_name'].map((place) => named.get(place))).toEqual([
      'checkpoint',
      'model',
      'model4xUp',
    ]);
    const { saveWorkflow } = await ok('anna', SAVE, { name: 'models', graph, inputs: proposed });
    expect(saveWorkflow.versions[0].inputs).toHaveLength(proposed.length);
    await ok('anna', 'mutation { deleteWorkflow(id: "models") { id } }');
  });

  it('is refused before anything is queued, naming each class and model file that no machine has', async () => {
    const graph = { ...needy('none.safetensors'), 8: { class_type: 'ImaginaryNode', inputs: {} } };
    const answer = await refusal('anna', RUN, { input: { workflow: graph } });
    expect(answer).toMatchObject({ code: 'NOT_INSTALLED', field: 'workflow.1.inputs.ckpt_name' });
    expect(answer.message).toContain('model file none.safetensors');
    expect(answer.message).toContain('node class ImaginaryNode');
  });

  it('goes only to machines that have what it needs', async () => {
    await kiln.control('lacks', { wire: 'comfyui-a', names: ['sd_xl_base_1.0.safetensors'] });
    const listJobs = async () => {
      const answer = await fetch(`${kiln.sandboxUrl}/_control/jobs`);
      return (await answer.json()) as readonly { readonly wire: string }[];
    };
    const before = (await listJobs()).length;
    const graph = needy('sd_xl_base_1.0.safetensors');
    const ids = await Promise.all(
      Array.from({ length: 4 }, async (_, seed) => {
        const input = { workflow: graph, inputs: { '5.seed': seed } };
        return (await ok('anna', RUN, { input })).runComfyWorkflow.id as string;
      }),
    );
    for (const id of ids) expect(await ended('anna', id)).toMatchObject({ state: 'SUCCEEDED' });
    const made = (await listJobs()).slice(before).map(({ wire }) => wire);
    expect(made).toEqual(['comfyui-b', 'comfyui-b', 'comfyui-b', 'comfyui-b']);
  });
});

describe('a pool of machines', () => {
  const checkpoints = ['sd_xl_base_1.0.safetensors', 'v1-5-pruned-emaonly.safetensors'] as const;
  const graphWith = (checkpoint: string) => ({
    1: { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: checkpoint } },
    2: { class_type: 'EmptyImage', inputs: { width: 16, height: 16, batch_size: 1, color: 0 } },
    3: { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'x' } },
  });
  const start = async (checkpoint: string) =>
    (await ok('anna', RUN, { input: { workflow: graphWith(checkpoint) } })).runComfyWorkflow.id as string;
  const machines = ['comfyui-a', 'comfyui-b'] as const;
  /** The checkpoints of what a machine has run, in order. */
  async function ranAt(machine: (typeof machines)[number]): Promise<readonly string[]> {
    const answer = await fetch(`${kiln.sandboxUrl}/${machine}/history`);
    const entries = Object.values((await answer.json()) as Record<string, { prompt: readonly unknown[] }>);
    return entries.map(({ prompt }) => {
      const graph = prompt[2] as ReturnType<typeof graphWith>;
      return graph[1].inputs.ckpt_name;
    });
  }
  const reset = async () => {
    await fetch(`${kiln.sandboxUrl}/_control`, { method: 'DELETE' });
    await kiln.control('latency', { wire: 'comfyui-a', queuedMs: 0, runningMs: 0 });
    await kiln.control('latency', { wire: 'comfyui-b', queuedMs: 0, runningMs: 0 });
  };

  it('gives work to the machine that has its model loaded: two loads for eight graphs of two models', async () => {
    await reset();
    for (let round = 0; round < 4; round += 1) {
      for (const checkpoint of checkpoints) {
        expect((await ended('anna', await start(checkpoint))).state).toBe('SUCCEEDED');
      }
    }
    const ran = await Promise.all(machines.map(ranAt));
    const loads = ran.map((models) => models.filter((model, index) => model !== models[index - 1]).length);
    expect(ran.flat()).toHaveLength(8);
    expect(loads).toEqual([1, 1]);
  });

  it('gives a closed machine nothing new, and what waits at a paused one to another', async () => {
    await reset();
    for (const wire of machines) await kiln.control('latency', { wire, holdAt: 50 });
    const ids = await Promise.all(Array.from({ length: 4 }, () => start(checkpoints[0])));
    const jobs = async () =>
      (await (await fetch(`${kiln.sandboxUrl}/_control/jobs`)).json()) as readonly {
        readonly wire: string;
        readonly state: string;
      }[];
    const held = await until(
      jobs,
      (all) => all.length === 4 && all.some(({ state }) => state === 'queued'),
      10_000,
    );
    const one = held.find(({ state }) => state === 'queued')?.wire ?? '';
    const id = `${kiln.sandboxUrl}/${one}`;
    const close = 'mutation ($id: ID!) { closeComfyServer(id: $id, state: PAUSED) { state } }';
    expect(await refusal('anna', close, { id })).toMatchObject({ code: 'FORBIDDEN' });
    const elsewhere = { id: 'http://127.0.0.1:1' };
    expect(await refusal('root', close, elsewhere)).toMatchObject({ code: 'NOT_FOUND' });
    const why = close.replace('PAUSED', `DRAINING, reason: "${'x'.repeat(201)}"`);
    expect(await refusal('root', why, { id })).toMatchObject({ code: 'BAD_USER_INPUT', field: 'reason' });
    expect((await ok('root', close, { id })).closeComfyServer).toEqual({ state: 'PAUSED' });
    const isLeft = ({ wire, state }: { readonly wire: string; readonly state: string }) =>
      wire === one && state === 'queued';
    await until(jobs, (all) => !all.some(isLeft), 10_000);
    for (const wire of machines) await kiln.control('latency', { wire, holdAt: 100 });
    for (const task of ids) expect((await ended('anna', task)).state).toBe('SUCCEEDED');
    const done = (await jobs()).filter(({ state }) => state === 'finished').map(({ wire }) => wire);
    expect(done.filter((wire) => wire === one)).toHaveLength(1);
    const facts =
      '{ comfyServers { address up running pending capacity closed { state } facts { versions classes loaded models { loader files } errors { message } devices { type } } } }';
    const { comfyServers } = await ok('root', facts);
    expect(comfyServers.find(({ address }: { address: string }) => address === id)).toMatchObject({
      up: true,
      running: 0,
      pending: 0,
      capacity: expect.any(Number),
      closed: { state: 'PAUSED' },
      facts: {
        loaded: [checkpoints[0]],
        models: expect.arrayContaining([
          { loader: 'CheckpointLoaderSimple', files: expect.arrayContaining([...checkpoints]) },
        ]),
        errors: [],
        devices: [{ type: 'cpu' }],
      },
    });
    await ok('root', 'mutation ($id: ID!) { openComfyServer(id: $id) }', { id });
  });
});
