import { badInput } from '../../../platform/errors.ts';
import type { Binding, CatalogModel, GeneratorRegistry } from '../generators/bindings/binding.ts';
import { charactersOf, type Conversation } from './messages.ts';

/** Most models that a refusal names. */
const MAX_NAMED = 8;

/** The model of a binding that a chat uses: the one it names, else the binding's first for chat. */
export function chatModelOf({ models = [] }: Binding, model: string | null): CatalogModel | undefined {
  return models.find(({ id, kinds }) => kinds.includes('CHAT') && (model === null || model === id));
}

/** The generator's bindings that take a conversation of this length. BAD_USER_INPUT naming models that would. */
export function bindingsTaking(
  registry: GeneratorRegistry,
  request: { readonly generator: string; readonly model: string | null },
  conversation: Conversation,
): readonly Binding[] {
  const { generator, model } = request;
  const bindings = registry.bindingsFor(generator, 'CHAT', model ?? undefined);
  const characters = charactersOf(conversation);
  const takes = (limits: CatalogModel | undefined) => characters <= (limits?.maxPrompt ?? Infinity);
  const taking = bindings.filter((binding) => takes(chatModelOf(binding, model)));
  if (taking.length > 0) return taking;
  const longest = Math.max(...bindings.map((binding) => chatModelOf(binding, model)?.maxPrompt ?? 0));
  const others = registry.models({}).filter((one) => one.kinds.includes('CHAT') && takes(one));
  const names = [...new Set(others.map((one) => `${one.id} (${one.generator})`))].slice(0, MAX_NAMED);
  const suggestion = names.length === 0 ? '' : `; models that take this request: ${names.join(', ')}`;
  throw badInput(
    'messages',
    `messages may have at most ${longest} characters here, these have ${characters}${suggestion}`,
  );
}
