import { Models, type ModelFields } from '../../documents/media/questions.ts';
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
