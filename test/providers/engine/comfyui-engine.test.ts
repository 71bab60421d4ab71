import { describe, expect } from 'vitest';

import { comfyGraph } from '../../../subgraphs/media/providers/comfyui/comfyui.contract.ts';
import { followers } from '../../kit/clients/followers.ts';
import { graphql, until } from '../../kit/clients/requests.ts';
import type { KilnUnderTest } from '../../kit/kiln.ts';
import { must, SECRET, type Environment } from '../environment/environment.ts';
import { createKilnTest } from '../environment/kiln-test.ts';

/** Graphs through the whole of Kiln: progress node by node, a machine that dies, a class that no machine has. */

const it = createKilnTest({
  // One test waits as long as all the others.
  kilns: 2,
  settings: ({ sandbox: { url } }) => ({
    REST_AUTH: 'open',
    COMFYUI_URLS: `${url}/comfyui-a,${url}/comfyui-b`,
    COMFYUI_API_KEY: SECRET,
  }),
});

interface TaskView {
  readonly state: string;
  readonly error: { readonly code: string; readonly message: string; readonly field: string | null } | null;
  readonly outputs: readonly {
    readonly contentType: string;
    readonly width: number;
    readonly height: number;
  }[];
  readonly stage: string;
  readonly attempts: readonly {
    readonly state: string;
    readonly error: { readonly code: string; readonly message: string } | null;
  }[];
}

const RUN = `mutation Run($input: ComfyWorkflowInput!) { runComfyWorkflow(input: $input) { id } }`;
const NODE = `query Node { runningNode { node } }`;
const READ = `query Read($id: ID!) {
  task(id: $id) {
    state
    error { code message field }
    outputs { contentType width height }
    stage
    attempts { state error { code message } }
  }
}`;

const textToImage = {
  workflowName: 'text-to-image',
  inputs: { prompt: 'a lighthouse', width: 96, height: 64 },
};

async function run({ url }: KilnUnderTest, input: object): Promise<string> {
  const { data, errors } = await graphql(url, RUN, { input });
  expect(errors).toBeUndefined();
  return data.runComfyWorkflow.id as string;
}

async function read({ url }: KilnUnderTest, id: string): Promise<TaskView> {
  const { data } = await graphql(url, READ, { id });
  return data.task as TaskView;
}

const ended = (kiln: KilnUnderTest, id: string) =>
  until(
    () => read(kiln, id),
    ({ state }) => /SUCC|FAIL/.test(state),
    50_000,
  );

/** The machines that have jobs, oldest job first. */
async function machines(world: Environment): Promise<readonly string[]> {
  const answer = await fetch(`${world.sandbox.url}/_control/jobs`);
  return ((await answer.json()) as { readonly wire: string }[]).map(({ wire }) => wire);
}

describe.concurrent('a graph on a pool of two machines', () => {
  it('is shown node by node to whoever follows it', async ({ world, kiln }) => {
    await world.setLatency({ wire: 'comfyui', runningMs: 4_000, progressSteps: 14 });
    const id = await run(kiln, textToImage);
    const { events, over } = followers['graphql-ws'](kiln.url, { taskId: id });
    expect(await over).toBeNull();
    expect(await ended(kiln, id)).toMatchObject({
      state: 'SUCCEEDED',
      outputs: [{ contentType: 'image/png', width: 96, height: 64 }],
    });
    const shown = new Set(events.flatMap(({ stage }) => /^node \w+ \((\w+)\)/.exec(stage)?.[1] ?? []));
    expect(shown).toContain('KSampler');
    expect(shown.size).toBeGreaterThan(2);
    const progress = events.map((event) => event.progress);
    expect(progress).toEqual(progress.toSorted((one, other) => one - other));
  });

  it('ends on the other machine when the one that worked on it dies', async ({ world, kiln }) => {
    await world.setLatency({ wire: 'comfyui', runningMs: 60_000 });
    const id = await run(kiln, textToImage);
    const [first] = await until(
      () => machines(world),
      (all) => all.length === 1,
    );
    const dying = must(first, 'machine');
    await world.setLatency({ wire: 'comfyui', runningMs: 100 });
    await world.injectFault({ wire: dying, fault: 'node-down', times: 1_000_000 });
    const task = await ended(kiln, id);
    expect(task).toMatchObject({ state: 'SUCCEEDED', outputs: [{ contentType: 'image/png' }] });
    expect(task.attempts).toEqual([
      { state: 'FAILED', error: { code: 'LOST', message: expect.any(String) } },
      { state: 'SUCCEEDED', error: null },
    ]);
    const other = dying === 'comfyui-a' ? 'comfyui-b' : 'comfyui-a';
    expect(await machines(world)).toEqual([dying, other]);
    const { data } = await graphql(kiln.url, NODE);
    expect(data.runningNode.node).toBe(`${world.sandbox.url}/${other}`);
  });

  it('waits for the machine that has its classes while that one is away, and says so', async ({
    world,
    kiln,
  }) => {
    await world.setLatency({ wire: 'comfyui', runningMs: 100 });
    await world.injectFault({ wire: 'comfyui-a', fault: 'node-down', times: 1_000_000 });
    const lacks = { wire: 'comfyui-b', names: ['KSampler'] };
    await fetch(`${world.sandbox.url}/_control/lacks`, { method: 'POST', body: JSON.stringify(lacks) });
    const id = await run(kiln, textToImage);
    const waiting = await until(
      () => read(kiln, id),
      // Between two tries it says that it starts.
      ({ attempts, stage }) =>
        attempts.some(({ error }) => error !== null) && stage.startsWith('provider away'),
    );
    expect(waiting).toMatchObject({ state: 'RUNNING', error: null });
    expect(waiting.attempts[0]?.error).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('do not have KSampler'),
    });
    // What the other one has goes there meanwhile.
    const text = { 1: { class_type: 'PreviewAny', inputs: { source: 'here' } } };
    expect(await ended(kiln, await run(kiln, { workflow: text }))).toMatchObject({ state: 'SUCCEEDED' });
    await world.reset();
    expect(await ended(kiln, id)).toMatchObject({ state: 'SUCCEEDED' });
  });

  it('ends with its text when it makes nothing else', async ({ kiln }) => {
    const workflow = {
      '1': { class_type: 'PrimitiveString', inputs: { value: 'a lighthouse' } },
      '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
    };
    const id = await run(kiln, { workflow });
    await ended(kiln, id);
    const { data } = await graphql(kiln.url, 'query Text($id: ID!) { task(id: $id) { state text texts } }', {
      id,
    });
    expect(data.task).toEqual({ state: 'SUCCEEDED', text: 'a lighthouse', texts: ['a lighthouse'] });
  });

  it('is tried once when a node refuses it, and tells nothing of the machine', async ({ kiln }) => {
    const workflow = {
      '1': { class_type: 'EmptyImage', inputs: { width: 16, height: 16, batch_size: 1, color: 0 } },
      '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: '../../evil/x' } },
    };
    const task = await ended(kiln, await run(kiln, { workflow }));
    expect(task).toMatchObject({ state: 'FAILED', error: { code: 'INVALID_INPUT', field: 'workflow.2' } });
    expect(task.attempts).toHaveLength(1);
    expect(task.error?.message).toContain('full_output_folder: [path]');
    expect(task.error?.message).not.toContain('/home');
  });

  it('is refused with the node and its class when no machine has the class', async ({ world, kiln }) => {
    const workflow = { ...comfyGraph, '3': { ...comfyGraph['3'], class_type: 'ImaginarySampler' } };
    const { errors } = await graphql(kiln.url, RUN, { input: { workflow } });
    expect(errors?.[0]?.message).toContain('the node class ImaginarySampler (node 3)');
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'NOT_INSTALLED',
      field: 'workflow.3.class_type',
    });
    expect(await world.starts()).toEqual({});
  });
});
