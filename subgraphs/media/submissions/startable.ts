import { badInput } from '../../../platform/errors.ts';
import { HttpFailure } from '../../../platform/http-client.ts';
import type { OutboundRule } from '../../../platform/safe-url.ts';
import type { Binding, GeneratorRegistry } from '../generators/binding.ts';
import { serves } from '../generators/registry.ts';
import type { InputRef, Work } from '../tasks/task.ts';

/** What only the work that another service asks for needs: nobody chose its generator, and it is checked before it is paid. */

interface Named {
  readonly generator: string;
  readonly model?: string | null | undefined;
}

/**
 * The request with the generator that has its model: templates name a model, or a generator, and not who has it. Where the
 * usual generator has it not, the first one takes it that does. BAD_USER_INPUT naming every model when there is none.
 */
export function withGenerator<Request extends Named>(
  registry: Pick<GeneratorRegistry, 'all'>,
  kind: 'IMAGE' | 'VIDEO',
  request: Request,
): Request {
  const { generator, model } = request;
  if (!model) return request;
  const able = registry.all().filter((binding) => serves(binding, kind));
  if (able.some((binding) => binding.generator === generator && serves(binding, kind, model))) return request;
  const owner = able.find((binding) => lists(binding, kind, model));
  if (owner !== undefined) return { ...request, generator: owner.generator };
  if (able.some((binding) => binding.generator === model))
    return { ...request, generator: model, model: null };
  // The model of a video template's pictures: it says nothing of the video.
  if (kind === 'VIDEO' && registry.all().some((binding) => lists(binding, 'IMAGE', model))) {
    return { ...request, model: null };
  }
  const known = able.flatMap(({ models = [] }) => models.filter(({ kinds }) => kinds.includes(kind)));
  const names = [...new Set(known.map(({ id }) => id))].join(', ');
  throw badInput('model', `model: nobody here has it; known are ${names}`);
}

function lists({ models = [] }: Binding, kind: string, model: string): boolean {
  return models.some(({ id, kinds }) => id === model && kinds.includes(kind));
}

const PICTURES = ['image', 'images', 'firstFrame', 'lastFrame'] as const;

/** Refuses pictures at addresses that are private by their form, as fetching them will be. BAD_USER_INPUT naming the field. */
export function checkAddresses(outbound: OutboundRule, work: Work): void {
  const given = work as { readonly [Name in (typeof PICTURES)[number]]?: InputRef | readonly InputRef[] };
  for (const field of PICTURES) {
    for (const ref of [given[field] ?? []].flat()) {
      if ('url' in ref) checkAddress(outbound, field, ref.url);
    }
  }
}

function checkAddress(outbound: OutboundRule, field: string, url: string): void {
  try {
    outbound.admit(url);
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    throw badInput(field, `${field} can't be fetched: ${error.message}`);
  }
}
