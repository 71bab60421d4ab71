import { z } from 'zod';

import { Voices } from '../../../rest-compat/documents/media/questions.ts';
import { runDocument } from '../../../rest-compat/replies/results.ts';
import { describeModel, describePrice } from '../work/catalog.ts';
import { type McpModel, McpEstimate } from '../work/documents.ts';
import { LOOKS, textResult, type Tool, tool, type ToolScope } from './tool.ts';

/** What can be named, and what it would cost: nothing here spends. */

/** Kinds of work that the tools start. */
const KINDS = ['IMAGE', 'VIDEO', 'SPEECH', 'LIP_SYNC', 'ANALYSIS', 'COMFY_WORKFLOW'] as const;
const MAX_FOUND = 30;

const findModels = tool({
  name: 'find_models',
  title: 'Find models',
  description:
    'Finds models by kind, price, option or name. With the id of one it answers all that this one takes: options, sizes, voices, prices.',
  rateClass: 'read',
  annotations: LOOKS,
  arguments: () => ({
    model: z.string().optional().describe('The id of one, for everything about it.'),
    kind: z.enum(KINDS).optional().describe('What it is to make.'),
    max_price: z
      .number()
      .positive()
      .optional()
      .describe(
        'Most that one unit of it may cost: a picture, a second, a run. Others, and unknown prices, are left out.',
      ),
    option: z
      .string()
      .optional()
      .describe('The name of an option or input that it is to take, such as mask or seed.'),
    text: z.string().optional().describe('Part of its name, of its vendor or of its id.'),
  }),
  async run(wanted, scope) {
    if (wanted.model !== undefined) return oneModel(wanted.model, scope);
    const found = scope.catalog.models.filter((model) => isWanted(model, wanted));
    const lines = found.slice(0, MAX_FOUND).map(describeModel);
    const more = found.length > MAX_FOUND ? [`and ${found.length - MAX_FOUND} more: narrow it down`] : [];
    return textResult([`${found.length} model(s)`, ...lines, ...more].join('\n'), {
      models: found.slice(0, MAX_FOUND).map(briefly),
    });
  },
});

interface Wanted {
  readonly kind?: string | undefined;
  readonly max_price?: number | undefined;
  readonly option?: string | undefined;
  readonly text?: string | undefined;
}

function isWanted(model: McpModel, { kind, max_price: most, option, text }: Wanted): boolean {
  if (kind === undefined ? !KINDS.some((one) => model.kinds.includes(one)) : !model.kinds.includes(kind)) {
    return false;
  }
  const prices = model.prices?.prices ?? [];
  if (most !== undefined && !prices.some(({ amount, per }) => amount / per <= most)) return false;
  if (option !== undefined && !takes(model, option)) return false;
  const names = `${model.id} ${model.name} ${model.provider}`.toLowerCase();
  return text === undefined || names.includes(text.toLowerCase());
}

function takes({ inputs, optionsSchema }: McpModel, option: string): boolean {
  const { properties } = Object(optionsSchema) as { readonly properties?: object };
  return inputs.includes(option) || Object.hasOwn(properties ?? {}, option);
}

function briefly(model: McpModel) {
  const { id, name, provider, kinds, isDefault, sandbox } = model;
  return { model: id, name, provider, kinds, is_default: isDefault, sandbox, price: describePrice(model) };
}

async function oneModel(name: string, scope: ToolScope) {
  const { models } = scope.catalog;
  const model = models.find(({ id }) => id === name) ?? models.find(({ model: its }) => its === name);
  if (model === undefined)
    return textResult(`there is no model ${name.slice(0, 200)}: leave it out to find one`);
  const { voices } = model.kinds.includes('SPEECH')
    ? await runDocument(scope, Voices, { generator: model.generator })
    : { voices: null };
  const facts = { ...model, price: describePrice(model), ...(voices && { voices: voices.slice(0, 100) }) };
  return textResult(JSON.stringify(facts), { model: facts });
}

const estimateCost = tool({
  name: 'estimate_cost',
  title: 'What would it cost',
  description: 'What work is expected to cost, before anything is spent. Starts nothing.',
  rateClass: 'read',
  annotations: LOOKS,
  arguments: () => ({
    kind: z.enum(KINDS).describe('What is to be made.'),
    model: z.string().optional().describe('The id of a model; the default unless said otherwise.'),
    text: z.string().optional().describe('The prompt, or what is to be said.'),
    count: z.int32().min(1).optional().describe('How many images.'),
    resolution: z.string().optional(),
    duration: z.number().positive().optional().describe('Seconds of a video.'),
    with_image: z.boolean().optional().describe('Whether it begins with an image.'),
  }),
  async run({ kind, with_image: hasImage, model: name, ...facts }, scope) {
    const { generator, model, id } = scope.catalog.find(kind, name);
    const input = { kind, generator, model, hasImage, ...facts };
    const { amount, currency } = (await runDocument(scope, McpEstimate, { input })).estimateCost;
    const text =
      amount === null ? `the price of ${id} is not known` : `about ${amount} ${currency ?? ''} with ${id}`;
    return textResult(text, { model: id, amount, currency });
  },
});

/** The tools. */
export const findingTools: readonly Tool[] = [findModels, estimateCost];
