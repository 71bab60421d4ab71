import { type FaceModel, FaceModels } from '../documents/models.ts';
import { type FaceRoute, toSeconds } from '../table/route.ts';
import { ModelNotFound } from './model.ts';

/** The models of the catalog, and the aliases of the settings. */
export const modelRoutes: readonly FaceRoute[] = [
  {
    method: 'GET',
    path: '/models',
    summary: 'Every model, with what it can do.',
    rateClass: 'read',
    documents: [FaceModels],
    async run({ models, context, settings: { aliases } }) {
      const named = byName(await models.list(context), aliases);
      return { body: { object: 'list', data: [...named].map(([id, all]) => toModelObject(id, all)) } };
    },
  },
  {
    method: 'GET',
    path: '/models/{id}',
    summary: 'One model, with what it can do.',
    rateClass: 'read',
    documents: [FaceModels],
    async run({ models, context, pathParams: { id = '' }, settings: { aliases } }) {
      const named = byName(await models.list(context), aliases);
      const found = named.get(id);
      if (found === undefined) throw new ModelNotFound(id, 'work', [...named.keys()]);
      return { body: toModelObject(id, found) };
    },
  },
];

type Named = ReadonlyMap<string, readonly FaceModel[]>;

/** Models of one name, at whichever generators. Aliases of what is not there are left out. */
function byName(models: readonly FaceModel[], aliases: ReadonlyMap<string, string>): Named {
  const named = Map.groupBy(models, ({ model }) => model);
  for (const [alias, name] of aliases) {
    const meant = models.filter(
      ({ model, generator }) => model === name || `${generator}:${model}` === name || generator === name,
    );
    if (meant.length > 0) named.set(alias, meant);
  }
  return named;
}

/** A model in OpenAI's form; what the catalog knows besides is under `kiln`. */
function toModelObject(id: string, all: readonly FaceModel[]): object {
  const [first] = all;
  const unique = <Item>(items: readonly Item[]): Item[] => [...new Set(items)];
  return {
    id,
    object: 'model',
    created: first?.releasedAt === undefined || first.releasedAt === null ? 0 : toSeconds(first.releasedAt),
    owned_by: first?.provider ?? '',
    kiln: {
      name: first?.name,
      kinds: unique(all.flatMap(({ kinds }) => kinds)),
      inputs: unique(all.flatMap(({ inputs }) => inputs)),
      generators: all.map(({ generator }) => generator),
      sizes: first?.sizes ?? null,
      durations: first?.durations ?? null,
      sandbox: first?.sandbox ?? false,
    },
  };
}
