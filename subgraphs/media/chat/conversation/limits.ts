import { badInput, type Problem } from '../../../../platform/errors.ts';
import { vendorOptionProblems } from '../../domain/inputs/vendor-options/check.ts';
import type { Binding, CatalogModel, GeneratorRegistry } from '../../generators/bindings/binding.ts';
import { listFallbacks } from '../../generators/bindings/registry.ts';
import { countCharacters, type Conversation, type MediaKind } from './messages.ts';

/** Most models that a refusal names. */
const MAX_NAMED = 8;

/** The model of a binding that a chat uses: the one it names, else the binding's first for chat. */
export function findChatModel({ models = [] }: Binding, model: string | null): CatalogModel | undefined {
  const able = models.filter(({ kinds }) => kinds.includes('CHAT'));
  if (model !== null) return able.find(({ id }) => id === model);
  return able.find(({ isRetired }) => !isRetired()) ?? able[0];
}

/** A conversation, and the kinds of media in it. */
interface Question {
  readonly conversation: Conversation;
  readonly media: readonly MediaKind[];
}

/** The generator's bindings that take a conversation: its inputs and its length. BAD_USER_INPUT naming models that would. */
export function bindingsTaking(
  registry: GeneratorRegistry,
  request: { readonly generator: string; readonly model: string | null },
  { conversation, media }: Question,
): readonly Binding[] {
  const { generator, model } = request;
  const bindings = registry.bindingsFor(generator, 'CHAT', model ?? undefined);
  const characters = countCharacters(conversation);
  const inputs = listInputs(conversation, media);
  const lacks = (limits: CatalogModel | undefined) =>
    limits === undefined ? undefined : inputs.find((input) => !limits.inputs.includes(input));
  const isShort = (limits: CatalogModel | undefined) => characters <= (limits?.maxPrompt ?? Infinity);
  const wrongIn = (limits: CatalogModel | undefined) => optionProblem(conversation, limits);
  const takes = (limits: CatalogModel | undefined) =>
    lacks(limits) === undefined && wrongIn(limits) === undefined && isShort(limits);
  const taking = bindings.filter((binding) => takes(findChatModel(binding, model)));
  if (taking.length > 0) return listFallbacks(taking);
  const others = registry.models({}).filter((one) => one.kinds.includes('CHAT') && takes(one));
  const names = [...new Set(others.map((one) => `${one.id} (${one.generator})`))].slice(0, MAX_NAMED);
  const suggestion = names.length === 0 ? '' : `; models that take this request: ${names.join(', ')}`;
  const limits = bindings.map((binding) => findChatModel(binding, model));
  const missing = limits.map(lacks).find((input) => input !== undefined);
  if (missing !== undefined) throw badInput(missing, `${missing} is not taken by this model${suggestion}`);
  const wrong = limits.map(wrongIn).find((problem) => problem !== undefined);
  if (wrong !== undefined) throw badInput(wrong.field, `${wrong.field}: ${wrong.message}${suggestion}`);
  const longest = Math.max(...limits.map((one) => one?.maxPrompt ?? 0));
  throw badInput(
    'messages',
    `messages may have at most ${longest} characters here, these have ${characters}${suggestion}`,
  );
}

/** The first option in the vendor's names that a model does not take, or not so. */
function optionProblem(
  { options: { vendorOptions, ...options }, temperature, maxTokens }: Conversation,
  limits: CatalogModel | undefined,
): Problem | undefined {
  if (limits === undefined || vendorOptions === null) return undefined;
  const typed = Object.entries({ ...options, temperature, maxTokens }).filter(([, value]) => value !== null);
  const chat = { ...Object.fromEntries(typed), kind: 'CHAT', options: vendorOptions };
  return vendorOptionProblems(chat, limits.options)[0];
}

/** The inputs that a model must take, as models name them. */
function listInputs(conversation: Conversation, media: readonly MediaKind[]): readonly string[] {
  const { messages, system, temperature, maxTokens, options } = conversation;
  const hasCalls = messages.some(({ calls }) => calls.tool_calls !== undefined);
  const given: Readonly<Record<string, boolean>> = {
    system: system !== null,
    temperature: temperature !== null,
    maxTokens: maxTokens !== null,
    tools: options.tools.length > 0 || hasCalls,
    responseFormat: options.responseFormat !== null,
    reasoningEffort: options.reasoningEffort !== null,
  };
  return [...Object.keys(given).filter((name) => given[name]), ...media];
}
