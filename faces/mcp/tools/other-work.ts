import { z } from 'zod';

import { badInput } from '../../../platform/errors.ts';
import { Voices } from '../../../rest-compat/documents/media/questions.ts';
import {
  AnalyzeMedia,
  RunComfyWorkflow,
  SynthesizeSpeech,
} from '../../../rest-compat/documents/media/start.ts';
import { runDocument } from '../../../rest-compat/replies/results.ts';
import { McpComfyWorkflows } from '../work/documents.ts';
import { startOnce } from '../work/tasks.ts';
import { FILE_TEXT, file, mediaInput, modelArgument, options, spending } from './arguments.ts';
import { SPENDS, textResult, type Tool, tool, type ToolScope } from './tool.ts';

/** Speech, texts about files, and ComfyUI graphs. */

const speak = tool({
  name: 'speak',
  title: 'Say a text',
  description:
    'Says a text with a voice. Spends money, by the length of the text. Answers a link to the recording.',
  rateClass: 'start',
  annotations: SPENDS,
  arguments: (catalog) => ({
    text: z.string().min(1).describe('What is said.'),
    voice: z
      .string()
      .optional()
      .describe('A voice id: find_models with the id of a speech model lists them.'),
    model: modelArgument(catalog, 'SPEECH'),
    speed: z.number().positive().optional().describe('1 is normal.'),
    emotion: z.string().optional().describe('An emotion that the model has.'),
    format: z.string().optional().describe('mp3, wav, or another the model names.'),
    options,
    ...spending,
  }),
  async run(speech, scope) {
    const { generator, model } = scope.catalog.find('SPEECH', speech.model);
    const { text, speed, emotion, format } = speech;
    const voiceId = speech.voice ?? (await firstVoice(scope, generator));
    const given = { generator, model, text, voiceId, speed, emotion, format };
    const input = { ...given, options: speech.options as never };
    const task = await startOnce(scope, {
      call: ['speech', input, speech.variation],
      maxCost: speech.max_cost,
      estimate: { kind: 'SPEECH', generator, model, text },
      start: async (idempotencyKey) =>
        (await runDocument(scope, SynthesizeSpeech, { input, idempotencyKey })).synthesizeSpeech.id,
    });
    return { task };
  },
});

async function firstVoice(scope: ToolScope, generator: string): Promise<string> {
  const { voices } = await runDocument(scope, Voices, { generator });
  const [first] = voices;
  if (first === undefined) throw badInput('voice', 'this model has no voice: clone one first');
  return first.id;
}

const describeMedia = tool({
  name: 'describe_media',
  title: 'Put a file into words',
  description:
    'Answers a question about an image, a recording or a video, or describes it. Spends money, by tokens. Answers text.',
  rateClass: 'start',
  annotations: SPENDS,
  arguments: (catalog) => ({
    media: file.describe(`The file: ${FILE_TEXT}.`),
    question: z.string().min(1).optional().describe('What to find out; a description unless said otherwise.'),
    model: modelArgument(catalog, 'ANALYSIS'),
    ...spending,
  }),
  async run({ media, question = 'Describe what is in it.', ...rest }, scope) {
    const { generator, model } = scope.catalog.find('ANALYSIS', rest.model);
    const input = { generator, model, media: mediaInput('media', media), prompt: question };
    const task = await startOnce(scope, {
      call: ['analysis', input, rest.variation],
      maxCost: rest.max_cost,
      estimate: { kind: 'ANALYSIS', generator, model, text: question },
      start: async (idempotencyKey) =>
        (await runDocument(scope, AnalyzeMedia, { input, idempotencyKey })).analyzeMedia.id,
    });
    return { task };
  },
});

const runWorkflow = tool({
  name: 'run_workflow',
  title: 'Run a ComfyUI graph',
  description:
    'Runs a named ComfyUI graph on a machine of the pool. Without a name it lists the graphs and what each takes, and starts nothing.',
  rateClass: 'start',
  annotations: SPENDS,
  arguments: () => ({
    workflow: z.string().optional().describe('The name of a graph; absent: list them.'),
    inputs: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Values by the names that the graph has; a file is an address or a media id.'),
    ...spending,
  }),
  async run({ workflow, inputs = {}, ...rest }, scope) {
    const { comfyWorkflows } = await runDocument(scope, McpComfyWorkflows, {});
    const known = comfyWorkflows;
    const text = known.map((one) => `${one.name}: ${JSON.stringify(one.inputs)}`).join('\n');
    if (workflow === undefined) {
      return textResult(text === '' ? 'there is no named graph here' : text, { workflows: known });
    }
    const name = workflow.replace(/^workflow\//, '');
    if (!known.some((one) => one.name === name)) {
      throw badInput('workflow', `no such graph: one of ${known.map((one) => one.name).join(', ')}`);
    }
    const [machine] = scope.catalog.of('COMFY_WORKFLOW');
    const input = { workflowName: name, inputs: inputs as never };
    const task = await startOnce(scope, {
      call: ['workflow', input, rest.variation],
      maxCost: rest.max_cost,
      estimate: { kind: 'COMFY_WORKFLOW', generator: machine?.generator ?? 'comfy' },
      start: async (idempotencyKey) =>
        (await runDocument(scope, RunComfyWorkflow, { input, idempotencyKey })).runComfyWorkflow.id,
    });
    return { task };
  },
});

/** The tools. */
export const otherWorkTools: readonly Tool[] = [speak, describeMedia, runWorkflow];
