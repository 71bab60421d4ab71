/** A parsed Midjourney prompt: the text, and its `--name value` parameters. */
export interface MidjourneyPrompt {
  /** Without parameters. */
  readonly text: string;
  /** `--ar W:H`; the wire's own default is 1:1. */
  readonly aspectRatio: string;
  /** `--seed N`. */
  readonly seed: number | null;
  /** Every parameter as given, by name without dashes. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Parses a prompt. Unknown parameters are kept. */
export function parsePrompt(prompt: string): MidjourneyPrompt {
  const start = /(^|\s)--\w/.exec(prompt)?.index ?? prompt.length;
  const parameters: Record<string, string> = {};
  for (const part of prompt.slice(start).split(/(?:^|\s)--(?=\w)/)) {
    const [name = '', ...values] = part.trim().split(/\s+/);
    if (name !== '') parameters[name.toLowerCase()] = values.join(' ');
  }
  const seed = Number(parameters['seed']);
  return {
    text: prompt.slice(0, start).trim(),
    aspectRatio: parameters['ar'] ?? parameters['aspect'] ?? '1:1',
    seed: parameters['seed'] !== undefined && Number.isInteger(seed) && seed >= 0 ? seed : null,
    parameters,
  };
}

/** The wire's message for an invalid parameter; null when all are valid. */
export function invalidParameter({ parameters }: MidjourneyPrompt): string | null {
  const ratio = parameters['ar'] ?? parameters['aspect'];
  if (ratio !== undefined && !/^[1-9]\d{0,3}:[1-9]\d{0,3}$/.test(ratio)) {
    return `[Invalid parameter] Invalid value provided for argument --ar: ${ratio}`;
  }
  return null;
}
