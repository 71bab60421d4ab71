import type { GeneratorRegistry } from '../generators/bindings/binding.ts';

/**
 * Checks a prompt before it is paid for: a guess from a short list of words that image generators commonly refuse,
 * whole words in any case (as in novicezk/midjourney-proxy, BannedPromptUtils.java), and from the catalog's limit of
 * length. Upstreams have longer lists and may refuse what is allowed here.
 */
export interface PromptCheck {
  readonly allowed: boolean;
  /** Why not, in sentences; empty when allowed. */
  readonly reasons: readonly string[];
}

const BANNED_WORDS = new Set(
  [
    'beheaded bloodbath brothel decapitated dismembered erotic erotica fetish genitals gore hentai incest mutilated',
    'naked nsfw nsfw-test-banned nude nudity orgy pedophile porn pornographic rape suicide topless torture xxx',
  ].flatMap((words) => words.split(' ')),
);

/**
 * Checks a prompt for a generator, which need not be available: the words are known here. BAD_USER_INPUT for a generator
 * that does not exist.
 */
export function checkPrompt(registry: GeneratorRegistry, generator: string, prompt: string): PromptCheck {
  const isKnown = registry.generators().includes(generator) || Object.hasOwn(registry.missing(), generator);
  if (!isKnown) registry.bindingsFor(generator, 'IMAGE');
  const lengths = registry.models({ generator }).map(({ maxPrompt }) => maxPrompt ?? Infinity);
  const longest = Math.max(0, ...lengths) || Infinity;
  // Parameters (--ar 16:9) are not words of the prompt.
  const words = new Set(
    prompt
      .toLowerCase()
      .replaceAll(/(^|\s)--\w+/g, ' ')
      .split(/[^\p{L}\p{N}_-]+/u),
  );
  const reasons = [
    ...(prompt.trim() === '' ? ['the prompt is empty'] : []),
    ...(prompt.length > longest
      ? [`the prompt has ${prompt.length} characters, at most ${longest} are taken`]
      : []),
    ...[...words]
      .filter((word) => BANNED_WORDS.has(word))
      .map((word) => `the word "${word}" is commonly refused`),
  ];
  return { allowed: reasons.length === 0, reasons };
}
