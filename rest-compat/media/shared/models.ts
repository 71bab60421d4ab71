import { Models, type ModelFields } from '../../documents/media/questions.ts';
import { success, type Envelope } from '../../replies/envelope.ts';
import { restNamesOf } from '../../replies/field-names.ts';
import { route } from '../../route/define-route.ts';
import type { Route } from '../../route/route.ts';

/** A list of models with their limits: of one generator, or of all whose name begins with `within`. */
export function modelsRoute(options: {
  readonly path: string;
  readonly category: string;
  readonly within: string;
}): Route {
  const { path, category, within } = options;
  return route(Models)({
    method: 'GET',
    path,
    variables: () => ({ category }),
    responseSchema: 'Models',
    reply: ({ models }) => modelsReply(models.filter(({ generator }) => isWithin(generator, within))),
  });
}

/** Whether a generator is the named one, or one below it. */
function isWithin(generator: string, name: string): boolean {
  return generator === name || generator.startsWith(`${name}/`);
}

/** The models as lists answer them. */
export function modelsReply(models: readonly ModelFields[]): Envelope {
  const list = models.map((model) => {
    const { id, name, category, provider, generator, sizes, durations, maxPrompt, sandbox } = model;
    const inputs = [...new Set(model.inputs.flatMap(restNamesOf))];
    const limits = { inputs, sizes, durations, max_prompt: maxPrompt };
    return { id, name, category, provider, generator, ...limits, sandbox };
  });
  return success(list, `models: ${list.length}`);
}
