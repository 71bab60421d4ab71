import { readCheckedFile, reportIssue, type Report } from '../../../../platform/config/checked-file.ts';
import type { GeneratorsFileText } from '../../../../platform/config/text-file.ts';
import type { Json } from '../../../../platform/json.ts';
import type { Provider } from '../../providers/contract/provider.ts';
import { nameBatches } from '../bindings/batched.ts';
import type { Binding } from '../bindings/binding.ts';
import { withOwnNames } from '../bindings/identity.ts';
import { isAble, type RegistryOptions } from '../bindings/registry.ts';
import { namesModel, unknownModel, type Catalog } from '../catalog/catalog.ts';
import type { CatalogEntry } from '../catalog/entry.ts';
import { createBinding } from './create-binding.ts';
import { generatorsFileSchema, type WrittenBinding } from './generators-file.schema.ts';

/**
 * GENERATORS_FILE: generator -> its bindings, in the order of fall-back. A generator that it names has these bindings
 * and no other (an empty list: none); every other one keeps the bundled ones. `${NAME}` in a text stands for an
 * environment variable, so that secrets need not be in the file.
 */
export interface GeneratorsFileOptions {
  readonly file: GeneratorsFileText;
  readonly providers: Readonly<Record<string, Provider>>;
  readonly catalog: Catalog;
}

/** What a binding is made of, besides what is written. */
type Parts = Pick<GeneratorsFileOptions, 'providers' | 'catalog'>;

type Path = readonly (string | number)[];

/** Replaces bundled bindings by those of the file. Throws AppError NOT_CONFIGURED with every mistake, each with line, field and remedy. */
export function withGeneratorsFile(
  bundled: RegistryOptions,
  options: GeneratorsFileOptions,
): RegistryOptions {
  const written = readGenerators(options);
  const emptied = [...written].filter(([, bindings]) => bindings.length === 0);
  const missing = Object.entries(bundled.missing ?? {}).filter(([generator]) => !written.has(generator));
  return {
    bindings: [
      ...bundled.bindings.filter(({ generator }) => !written.has(generator)),
      ...[...written.values()].flat(),
    ],
    missing: {
      ...Object.fromEntries(missing),
      ...Object.fromEntries(emptied.map(([generator]) => [generator, 'a binding for it in GENERATORS_FILE'])),
    },
  };
}

function readGenerators({
  file,
  providers,
  catalog,
}: GeneratorsFileOptions): ReadonlyMap<string, readonly Binding[]> {
  return readCheckedFile({ setting: 'GENERATORS_FILE', ...file }, (json, report) =>
    checkedBindings(withVariables(json.value, file, report), { providers, catalog }, report),
  );
}

/** Every text with its variables filled in; one that is not set is a mistake of its own. */
function withVariables(
  value: Json,
  { variables }: Pick<GeneratorsFileText, 'variables'>,
  report: Report,
): Json {
  const fill = (part: Json, at: Path): Json => {
    if (typeof part === 'string')
      return part.replaceAll(/\$\{([^}]*)\}/g, (_, name: string) => variable(name, at));
    if (isList(part)) return part.map((item, index) => fill(item, [...at, index]));
    if (part === null || typeof part !== 'object') return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, fill(inner, [...at, key])]));
  };
  const variable = (name: string, at: Path): string => {
    const text = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (text === undefined) {
      report(at, `refers to \${${name}}, which is not set: set it in the environment, or write the value`);
    }
    return text ?? '';
  };
  return fill(value, []);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function checkedBindings(
  value: Json,
  { providers, catalog }: Parts,
  report: Report,
): ReadonlyMap<string, readonly Binding[]> {
  const parsed = generatorsFileSchema(Object.keys(providers)).safeParse(value);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) reportIssue(issue, report, 'a binding');
    return new Map();
  }
  for (const entry of Object.entries(parsed.data)) reportSameNames(entry, providers, report);
  return new Map(
    Object.entries(parsed.data).map(([generator, written]) => [
      generator,
      withOwnNames(
        written.flatMap((entry, index) => {
          const provider = providers[entry.provider];
          if (provider === undefined) return [];
          const parts = { provider, catalog };
          checkTogether(entry, parts, (field, message) => report([generator, index, field], message));
          return [toBinding(entry, { generator, index, ...parts })];
        }),
      ),
    ]),
  );
}

/** A name stands for one account: running work is looked for under it, and pauses go by it. A vendor's batches have one too. */
function reportSameNames(
  [generator, written]: readonly [string, readonly WrittenBinding[]],
  providers: Parts['providers'],
  report: Report,
): void {
  const ofBatches = written.flatMap(({ name, provider }) =>
    name !== undefined && providers[provider]?.batches !== undefined ? [nameBatches(name)] : [],
  );
  for (const [index, { name }] of written.entries()) {
    if (name === undefined) continue;
    const names = [...written.slice(0, index).map((other) => other.name), ...ofBatches];
    if (names.includes(name))
      report([generator, index, 'name'], 'is the name of another binding of this generator: give it its own');
  }
}

/** Checks fields of one binding against each other. */
function checkTogether(
  written: WrittenBinding,
  parts: { readonly provider: Provider; readonly catalog: Catalog },
  report: (field: string, message: string) => void,
): void {
  const { baseUrl, nodes, model, kinds, credentials = {}, provider: name } = written;
  const { provider, catalog } = parts;
  const all = catalog.listModels(name);
  if (baseUrl === undefined && nodes === undefined)
    report('baseUrl', 'is missing: the address of the upstream');
  const unable = (kinds ?? []).filter((kind) => !isAble(provider, kind));
  if (unable.length > 0) report('kinds', `has ${unable.join(', ')}, which ${name} does not do: remove it`);
  if (model === undefined && namesModel(name) && all.length === 0) {
    report('model', `is missing: Kiln knows no models of ${name}, so name it as the server does`);
  }
  const known = all.some(({ id }) => id === model);
  if (model !== undefined && !known && kinds === undefined) {
    report(
      'kinds',
      `is missing: Kiln does not know the model ${JSON.stringify(model)}, so say what it makes`,
    );
  } else if (unable.length === 0 && modelsIn(written, parts).length === 0) {
    report('kinds', `leaves nothing for this binding to do: name a model, or other kinds of ${name}`);
  }
  for (const [old, current] of OLD_NAMES) {
    if (written[old] !== undefined && written[current] !== undefined) {
      report(old, `is the old name of ${current}: remove it`);
    }
  }
  if ('accessKey' in credentials !== 'secretKey' in credentials) {
    report('credentials', 'needs accessKey and secretKey together');
  }
}

/** Fields that had another name before. */
const OLD_NAMES = [
  ['restartUnknown', 'retryUnknownStart'],
  ['stallSeconds', 'attemptTimeoutSeconds'],
] as const;

function toBinding(
  written: WrittenBinding,
  options: {
    readonly generator: string;
    readonly index: number;
    readonly provider: Provider;
    readonly catalog: Catalog;
  },
): Binding {
  const { nodes = [], baseUrl = nodes[0] ?? '', restartUnknown, stallSeconds } = written;
  const isPool = options.provider.name === 'comfyui' && nodes.length === 0;
  return createBinding({
    ...options,
    retryUnknownStart: restartUnknown,
    attemptTimeoutSeconds: stallSeconds,
    ...written,
    provider: options.provider,
    connection: { ...written, baseUrl, nodes: isPool ? [baseUrl] : nodes },
    settings: 'GENERATORS_FILE',
    words: [written.model, ...(written.kinds ?? [])].filter(Boolean).join('-'),
    takesAnyModel: options.provider.describeModel !== undefined && written.model === undefined,
    models: modelsIn(written, options),
    today: options.catalog.today,
    sandbox: false,
  });
}

/** The model that is written, or every known one of the wire; with the limits of the catalog, then those of the file. */
function modelsIn(
  { model, kinds, limits = {}, provider: name }: WrittenBinding,
  { provider, catalog }: { readonly provider: Provider; readonly catalog: Catalog },
): readonly CatalogEntry[] {
  const known = catalog.listModels(name);
  const same = known.find(({ id }) => id === model?.split(':')[0]);
  // Another version of a known model has its fields.
  const unknown = { ...unknownModel(model ?? name, kinds ?? []), wire: same?.wire ?? null };
  const chosen =
    model === undefined && known.length > 0 ? known : [known.find(({ id }) => id === model) ?? unknown];
  const own = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
  return chosen
    .map((entry) => {
      // A file that names both model and kinds wins over the catalog.
      const wanted =
        model === undefined ? entry.kinds.filter((kind) => isIn(kinds, kind)) : (kinds ?? entry.kinds);
      return { ...entry, ...own, kinds: wanted.filter((kind) => isAble(provider, kind)) };
    })
    .filter((entry) => entry.kinds.length > 0);
}

function isIn(kinds: readonly string[] | undefined, kind: string): boolean {
  return kinds === undefined || kinds.includes(kind);
}
