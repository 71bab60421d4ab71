import { describe, expect, it } from 'vitest';

import { comfyWorkflows, publicInputs, checkedGraph, type Graph } from './comfy-workflows.ts';
import { resolveComfyWorkflow } from './resolve.ts';

const FILE_ID = '01900000-0000-7000-8000-000000000000';

const graph = {
  1: { class_type: 'LoadImage', inputs: { image: 'known.png' } },
  2: { class_type: 'ImageScale', inputs: { image: ['1', 0], width: 8, height: 8 } },
  '3:1': { class_type: 'SaveImage', inputs: { images: ['2', 0] } },
};

function readInput(workflow: object, target: string): unknown {
  const dot = target.indexOf('.');
  const node = (workflow as Graph)[target.slice(0, dot)];
  return node?.inputs[target.slice(dot + 1)];
}

describe('the bundled comfy workflows', () => {
  it.each(comfyWorkflows.map((workflow) => [workflow.name, workflow] as const))(
    '%s is a graph whose declared inputs have their places and defaults in it',
    (_, bundled) => {
      const nodes = checkedGraph(bundled.workflow);
      expect(Object.values(nodes).some((node) => node.class_type === 'SaveImage')).toBe(true);
      for (const declared of Object.values(bundled.inputs)) {
        expect(declared.at.length).toBeGreaterThan(0);
        for (const target of declared.at) {
          const there = readInput(nodes, target);
          expect(there).toBeDefined();
          expect(declared.default ?? there).toBe(there);
        }
      }
    },
  );

  it('are shown without where their inputs go', () => {
    const shown = comfyWorkflows.map(publicInputs);
    expect(shown[0]).toMatchObject({ prompt: { type: 'text', required: true } });
    expect(JSON.stringify(shown)).not.toContain('"at"');
  });

  it('are filled in, every value at its place and the rest as it is', () => {
    const inputs = { prompt: 'a fox', width: 640, seed: 7 };
    const { workflow, files } = resolveComfyWorkflow({ workflowName: 'text-to-image', inputs });
    expect(readInput(workflow, '6.text')).toBe('a fox');
    expect(readInput(workflow, '5.width')).toBe(640);
    expect(readInput(workflow, '3.seed')).toBe(7);
    expect(readInput(workflow, '3.model')).toEqual(['4', 0]);
    expect(files).toEqual([]);
    const [original] = comfyWorkflows;
    expect(readInput(original?.workflow ?? {}, '6.text')).toBe('');
  });

  it('have their defaults also where an input is named like a member of every object', () => {
    const place = { type: 'integer', required: false, default: 8, description: '', at: ['2.width'] } as const;
    const saved = { name: 'own', category: 'image', inputs: { constructor: place }, workflow: graph };
    const filled = (inputs: object) =>
      readInput(resolveComfyWorkflow({ workflowName: 'own', inputs }, saved).workflow, '2.width');
    expect([filled({}), filled({ constructor: 9 })]).toEqual([8, 9]);
  });

  it.each([
    ['https://example.org/a.png', { url: 'https://example.org/a.png' }],
    [FILE_ID, { fileId: FILE_ID }],
    [{ url: 'https://example.org/a.png' }, { url: 'https://example.org/a.png' }],
    [{ fileId: FILE_ID }, { fileId: FILE_ID }],
  ])('take a file as %j', (image, input) => {
    const inputs = { image, prompt: 'a fox' };
    const { files } = resolveComfyWorkflow({ workflowName: 'image-to-image', inputs });
    expect(files).toEqual([{ target: '10.image', field: 'inputs.image', input }]);
  });

  it.each([
    ['a name nobody has', { workflowName: 'nothing' }, 'workflowName'],
    ['neither', {}, 'workflow'],
    ['both', { workflowName: 'text-to-image', workflow: graph }, 'workflow'],
    ['inputs that are a list', { workflowName: 'text-to-image', inputs: [] }, 'inputs'],
    ['no prompt', { workflowName: 'text-to-image' }, 'inputs.prompt'],
    ['an empty prompt', { workflowName: 'text-to-image', inputs: { prompt: ' ' } }, 'inputs.prompt'],
    ['an unknown input', { workflowName: 'text-to-image', inputs: { prompt: 'x', size: 1 } }, 'inputs.size'],
    [
      'a text as a number',
      { workflowName: 'text-to-image', inputs: { prompt: 'x', seed: '1' } },
      'inputs.seed',
    ],
    ['a number as a text', { workflowName: 'text-to-image', inputs: { prompt: 7 } }, 'inputs.prompt'],
    ['half a pixel', { workflowName: 'text-to-image', inputs: { prompt: 'x', width: 64.5 } }, 'inputs.width'],
    [
      'too many pixels',
      { workflowName: 'text-to-image', inputs: { prompt: 'x', width: 4096 } },
      'inputs.width',
    ],
    [
      'pixels that are no 8s',
      { workflowName: 'text-to-image', inputs: { prompt: 'x', width: 513 } },
      'inputs.width',
    ],
    [
      'a method nobody has',
      { workflowName: 'image-resize', inputs: { image: FILE_ID, method: 'magic' } },
      'inputs.method',
    ],
    ['a file that is a number', { workflowName: 'image-resize', inputs: { image: 7 } }, 'inputs.image'],
  ])('refuse %s, naming the field', (_, request, field) => {
    expect(() => resolveComfyWorkflow(request)).toThrow(
      expect.objectContaining({ code: 'BAD_USER_INPUT', field }),
    );
  });
});

describe('a graph of the caller', () => {
  it('is taken as it is, with values and files put in their places', () => {
    const inputs = { '2.width': 64, '1.image': { fileId: FILE_ID } };
    const { workflow, files } = resolveComfyWorkflow({ workflow: graph, inputs });
    expect(workflow).toEqual({ ...graph, 2: { ...graph[2], inputs: { ...graph[2].inputs, width: 64 } } });
    expect(files).toEqual([{ target: '1.image', field: 'inputs.1.image', input: { fileId: FILE_ID } }]);
  });

  it('takes many values in no time', () => {
    // Copying a node for each of them would take minutes.
    const inputs = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`2.x${index}`, index]));
    const { workflow } = resolveComfyWorkflow({ workflow: graph, inputs });
    expect(readInput(workflow, '2.x39999')).toBe(39_999);
    expect(readInput(workflow, '2.width')).toBe(8);
    expect(Object.keys((workflow as Graph)['2']?.inputs ?? {})).toHaveLength(40_003);
  });

  it('has the addresses at its loaders handed over as files, and others left alone', () => {
    const url = 'https://example.org/a.png';
    const workflow = {
      1: { class_type: 'LoadImage', inputs: { image: url } },
      2: { class_type: 'CLIPTextEncode', inputs: { text: url, clip: ['1', 0] } },
    };
    expect(resolveComfyWorkflow({ workflow }).files).toEqual([
      { target: '1.image', field: 'workflow.1.inputs.image', input: { url } },
    ]);
    const replaced = resolveComfyWorkflow({
      workflow,
      inputs: { '1.image': `${url}?other`, '2.text': `${url}?text` },
    });
    expect(replaced.files.map(({ input }) => input)).toEqual([{ url: `${url}?other` }]);
    expect(readInput(replaced.workflow, '2.text')).toBe(`${url}?text`);
  });

  it.each([
    ['a text', 'x', 'workflow', /object of nodes/],
    ['a list', [], 'workflow', /object of nodes/],
    ['nothing', {}, 'workflow', /no nodes/],
    ['the format ComfyUI saves in', { nodes: [], links: [] }, 'workflow', /API format/],
    ['a node that is none', { 7: 'x' }, 'workflow.7', /node "7"/],
    ['a node without class', { 7: { inputs: {} } }, 'workflow.7.class_type', /node "7" has no class_type/],
    [
      'a node without inputs',
      { 7: { class_type: 'KSampler' } },
      'workflow.7.inputs',
      /node "7" \(KSampler\)/,
    ],
    [
      'a link to nowhere',
      { 7: { class_type: 'VAEDecode', inputs: { vae: ['9', 2] } } },
      'workflow.7.inputs.vae',
      /\(VAEDecode\) takes vae from node "9"/,
    ],
  ])('is refused when it is %s, naming the node', (_, workflow, field, message) => {
    expect(() => resolveComfyWorkflow({ workflow })).toThrow(
      expect.objectContaining({
        code: 'BAD_USER_INPUT',
        field,
        message: expect.stringMatching(message) as string,
      }),
    );
  });

  it('is refused when it is too large', () => {
    const node = { class_type: 'Note', inputs: {} };
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, id) => [id, node]));
    expect(() => resolveComfyWorkflow({ workflow: many })).toThrow(/at most 1000 nodes/);
    const long = { 1: { class_type: 'Note', inputs: { text: 'x'.repeat(1 << 20) } } };
    expect(() => resolveComfyWorkflow({ workflow: long })).toThrow(/bytes/);
  });

  it.each(['2', '2.', '9.image', '__proto__.x', 'constructor.name'])('has no place %s', (target) => {
    const inputs = { [target]: 1 };
    expect(() => resolveComfyWorkflow({ workflow: graph, inputs })).toThrow(
      expect.objectContaining({ field: `inputs.${target}` }),
    );
  });
});
