import { Models, type ModelFields, Health } from '../../documents/media/questions.ts';
import { success, type Envelope } from '../../replies/envelopes.ts';
import { findRestNames } from '../../replies/field-names.ts';
import { route } from '../../route/define-route.ts';
import type { Route } from '../../route/route.ts';

/** What the forms of a section call inputs that others have under other names. */
type FieldNames = Readonly<Record<string, readonly string[]>>;

/** An operation that lists the models of a generator and of those below it, with their limits. */
export function modelsRoute(options: {
  readonly path: string;
  readonly category: string;
  readonly within: string;
  /** As `modelsReply` takes them. */
  readonly fieldNames?: FieldNames;
}): Route {
  const { path, category, within, fieldNames } = options;
  return route(Models)({
    method: 'GET',
    path,
    variables: () => ({ category }),
    responseSchema: 'Models',
    reply: ({ models }) =>
      modelsReply(
        models.filter(({ generator }) => isWithin(generator, within)),
        fieldNames,
      ),
  });
}

/** Whether a generator is the named one or below it. */
function isWithin(generator: string, name: string): boolean {
  return generator === name || generator.startsWith(`${name}/`);
}

/** Inputs that no documented form has. */
const UNREAD = ['mask'];

/** The reply with a list of models; `fieldNames` are inputs that the section's own forms call otherwise. */
export function modelsReply(models: readonly ModelFields[], fieldNames: FieldNames = {}): Envelope {
  const namesFor = (input: string) =>
    fieldNames[input] ?? (UNREAD.includes(input) ? [] : findRestNames(input));
  const list = models.map((listed) => {
    const { model: id, name, category, provider, generator, sizes, durations, maxPrompt, sandbox } = listed;
    const inputs = [...new Set(listed.inputs.flatMap(namesFor))];
    const limits = { inputs, sizes, durations, max_prompt: maxPrompt };
    return { id, name, category, provider, generator, ...limits, sandbox };
  });
  return success(list, `models: ${list.length}`);
}

interface HealthOptions {
  readonly deprecated?: true;
  /** Generators of the section: it is not available when none of them is. Absent: it needs none. */
  readonly generators?: readonly string[];
  /** Parts that the section can do nothing without: it is not available while one of them is away. */
  readonly parts?: readonly string[];
}

/** A section's health operation: the parts that all need, and the section's own generators. */
export function healthRoute(
  path: string,
  { generators = [], parts = [], ...options }: HealthOptions = {},
): Route {
  return route(Health)({
    method: 'GET',
    path,
    ...options,
    variables: () => ({}),
    responseSchema: 'Health',
    reply({ health: { generators: all, checks, ...facts } }): Envelope {
      const own = all.filter(({ generator }) => generators.includes(generator));
      const states = Object.fromEntries(own.map(({ generator, state }) => [generator, state]));
      const data = { ...facts, checks: { ...(checks as object), ...states } };
      const isUnavailable = generators.length > 0 && own.every(({ state }) => state === 'not available');
      if (isUnavailable) return { status: false, data, msg: `not available here: ${generators.join(', ')}` };
      const lost = parts.filter(
        (part) => (checks as Readonly<Record<string, unknown>>)[part] === 'unavailable',
      );
      if (lost.length === 0) return success(data, 'the service is running');
      return { status: false, data, msg: `not available now: ${lost.join(', ')}` };
    },
  });
}
