import { silentLogger } from '../../../platform/process/logger.ts';
import { createSandbox } from '../../../sandbox/sandbox.ts';
import { graphql, until } from '../../../test/kit/clients/requests.ts';
import { temporaryDataDir } from '../../../test/kit/processes/kiln-process.ts';
import { createRandom } from '../../fuzz/random.ts';
import type { Bench, BenchTools, Figure } from '../bench.ts';
import { startBenchedKiln } from '../kiln.ts';

/** How often machines of a ComfyUI pool have to load a model: where work goes by what they have loaded, and by chance. */

const GRAPHS = Number(process.env['MACHINES_GRAPHS'] ?? 120);
/** Graphs that callers have under way at once. */
const AT_ONCE = 6;
const RUN_MS = 300;
/** Model files that the stand-ins have, and the loader of each. */
const MODELS = [
  ['CheckpointLoaderSimple', 'ckpt_name', 'v1-5-pruned-emaonly.safetensors'],
  ['CheckpointLoaderSimple', 'ckpt_name', 'sd_xl_base_1.0.safetensors'],
  ['CheckpointLoaderSimple', 'ckpt_name', '512-inpainting-ema.safetensors'],
  ['UNETLoader', 'unet_name', 'flux1-dev.safetensors'],
  ['UNETLoader', 'unet_name', 'qwen_image_fp8_e4m3fn.safetensors'],
] as const;
/** Numbers of models of which the callers ask for one after the other at random. */
const COUNTS = [2, 3, 5] as const;

/** Three machines, and callers whose graphs need one of several models. */
export const machines: Bench = {
  name: 'machines',
  async run(tools) {
    const pool = await startPool(tools);
    const figures: Figure[] = [];
    for (const count of COUNTS) {
      const loaded = await pool.round(count, () => undefined);
      const random = createRandom(2);
      const chance = await pool.round(count, () => random.of(pool.machines));
      figures.push({
        what: `loads for ${GRAPHS} graphs of ${count} models on 3 machines`,
        ours: `${loaded.loads} loads, ${loaded.seconds.toFixed(1)} s`,
        baseline: `machine by chance: ${chance.loads} loads, ${chance.seconds.toFixed(1)} s`,
        ratio: { value: chance.loads / loaded.loads, target: 1.5 },
        note: `graphs by machine ${loaded.shares.join(', ')}; a load takes no time at the stand-ins`,
      });
    }
    return figures;
  },
};

async function startPool(tools: BenchTools) {
  const urls: string[] = [];
  for (const name of ['first', 'second']) {
    const { dataDir, remove } = await temporaryDataDir();
    tools.lifecycle.add(`data of the ${name} sandbox`, async () => remove());
    const sandbox = await createSandbox({ dataDir, logger: silentLogger(), instantImages: true });
    tools.lifecycle.add(`${name} sandbox`, () => sandbox.close());
    urls.push(sandbox.url);
  }
  const [first = '', second = ''] = urls;
  const all = [`${first}/comfyui-a`, `${first}/comfyui-b`, `${second}/comfyui-a`];
  const { url } = await startBenchedKiln(tools, {
    COMFYUI_URLS: all.join(','),
    REST_AUTH: 'open',
    RATE_LIMIT: 'off',
  });
  const reset = () =>
    Promise.all(
      urls.map(async (sandbox) => {
        await fetch(`${sandbox}/_control`, { method: 'DELETE' });
        for (const wire of ['comfyui-a', 'comfyui-b']) {
          const body = JSON.stringify({ wire, queuedMs: 0, runningMs: RUN_MS });
          const headers = { 'content-type': 'application/json' };
          await fetch(`${sandbox}/_control/latency`, { method: 'POST', headers, body });
        }
      }),
    );
  return {
    machines: all,
    /** Runs the same graphs in the same order each time; `place` names the machine of each, or leaves it to Kiln. */
    async round(count: number, place: () => string | undefined) {
      await reset();
      const random = createRandom(1);
      const wanted = Array.from({ length: GRAPHS }, () => random.below(count));
      const startedAt = performance.now();
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (let model = wanted.shift(); model !== undefined; model = wanted.shift())
            await run(url, model, place());
        }),
      );
      const seconds = (performance.now() - startedAt) / 1_000;
      const ran = await Promise.all(all.map(modelsAt));
      const loads = ran.map((models) => models.filter((model, index) => model !== models[index - 1]).length);
      const shares = ran.map(({ length }) => length);
      return { seconds, shares, loads: loads.reduce((sum, one) => sum + one, 0) };
    },
  };
}

async function run(url: string, model: number, node: string | undefined): Promise<void> {
  const [loader, field, file] = MODELS[model] ?? MODELS[0];
  const workflow = {
    1: {
      class_type: loader,
      inputs: { [field]: file, ...(loader === 'UNETLoader' && { weight_dtype: 'default' }) },
    },
    2: { class_type: 'EmptyImage', inputs: { width: 16, height: 16, batch_size: 1, color: 0 } },
    3: { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'x' } },
  };
  const start = 'mutation ($input: ComfyWorkflowInput!) { runComfyWorkflow(input: $input) { id } }';
  const input = { workflow, ...(node !== undefined && { node }) };
  const { data, errors } = await graphql(url, start, { input });
  if (errors !== undefined) throw new Error(`not started: ${JSON.stringify(errors)}`);
  const id = data.runComfyWorkflow.id as string;
  const read = async () =>
    (await graphql(url, 'query ($id: ID!) { task(id: $id) { state error { message } } }', { id })).data.task;
  const task = await until(read, ({ state }) => /SUCC|FAIL/.test(state), 60_000);
  if (task.state !== 'SUCCEEDED') throw new Error(`failed: ${JSON.stringify(task.error)}`);
}

/** The model of each graph that a machine has run, in order. */
async function modelsAt(machine: string): Promise<readonly string[]> {
  const answer = await fetch(`${machine}/history`);
  const entries = Object.values((await answer.json()) as Record<string, { prompt: readonly unknown[] }>);
  return entries.map(({ prompt }) => {
    const graph = prompt[2] as Record<string, { readonly inputs: Record<string, string> }>;
    return graph['1']?.inputs['ckpt_name'] ?? graph['1']?.inputs['unet_name'] ?? '';
  });
}
