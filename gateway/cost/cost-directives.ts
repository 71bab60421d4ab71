import { type ConstDirectiveNode, type ConstValueNode, type DocumentNode, Kind, parse } from 'graphql';

/** How long the list of a field is, by `@listSize`. */
export interface ListSize {
  readonly assumedSize: number | undefined;
  /** Arguments of which the largest is the length. */
  readonly slicingArguments: readonly string[];
  /** Fields below that have the length; empty: the field itself. */
  readonly sizedFields: readonly string[];
}

/** The cost directives of a supergraph. */
export type CostDirectives = ReturnType<typeof readCostDirectives>;

/** Reads them. */
export function readCostDirectives(supergraphSdl: string) {
  const document = parse(supergraphSdl, { noLocation: true });
  const names = findDirectiveNames(document);
  const weights = new Map<string, number>();
  const sizes = new Map<string, ListSize>();
  const read = (place: string, directives: readonly ConstDirectiveNode[] = []): void => {
    for (const { name, arguments: given = [] } of directives) {
      const value = (wanted: string) => given.find((one) => one.name.value === wanted)?.value;
      if (name.value === names.cost) weights.set(place, readNumber(value('weight')) ?? 1);
      if (name.value === names.listSize)
        sizes.set(place, {
          assumedSize: readNumber(value('assumedSize')),
          slicingArguments: readTexts(value('slicingArguments')),
          sizedFields: readTexts(value('sizedFields')),
        });
    }
  };
  for (const definition of document.definitions) {
    if (
      !('fields' in definition) &&
      definition.kind !== Kind.SCALAR_TYPE_DEFINITION &&
      definition.kind !== Kind.ENUM_TYPE_DEFINITION
    )
      continue;
    const type = definition.name.value;
    read(type, definition.directives);
    for (const field of ('fields' in definition ? definition.fields : undefined) ?? []) {
      const at = `${type}.${field.name.value}`;
      read(at, field.directives);
      if (field.kind !== Kind.FIELD_DEFINITION) continue;
      for (const argument of field.arguments ?? [])
        read(`${at}(${argument.name.value})`, argument.directives);
    }
  }
  return {
    isEmpty: weights.size + sizes.size === 0,
    /** `@cost` of a type, of `Type.field`, of `Type.field(argument)` or of `Input.field`. */
    findWeight: (place: string) => weights.get(place),
    /** `@listSize` of `Type.field`. */
    findListSize: (place: string) => sizes.get(place),
  };
}

/** What the directives are called in this supergraph. */
function findDirectiveNames(document: DocumentNode): { readonly cost: string; readonly listSize: string } {
  const names = { cost: 'cost', listSize: 'cost__listSize' };
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.SCHEMA_DEFINITION && definition.kind !== Kind.SCHEMA_EXTENSION) continue;
    for (const { arguments: given = [] } of definition.directives ?? []) {
      const value = (wanted: string) => given.find((one) => one.name.value === wanted)?.value;
      const url = value('url');
      if (url?.kind !== Kind.STRING || !url.value.startsWith('https://specs.apollo.dev/cost/')) continue;
      const imported = value('import');
      for (const one of imported?.kind === Kind.LIST ? imported.values : []) {
        const [from, to] = readImport(one);
        if (from === '@cost') names.cost = to;
        if (from === '@listSize') names.listSize = to;
      }
    }
  }
  // The definitions tell what is used.
  const isDefined = (name: string) =>
    document.definitions.some((one) => one.kind === Kind.DIRECTIVE_DEFINITION && one.name.value === name);
  return isDefined(names.listSize) ? names : { ...names, listSize: 'listSize' };
}

function readImport(value: ConstValueNode): readonly [string, string] {
  if (value.kind === Kind.STRING) return [value.value, value.value.slice(1)];
  if (value.kind !== Kind.OBJECT) return ['', ''];
  const text = (wanted: string) => {
    const found = value.fields.find(({ name }) => name.value === wanted)?.value;
    return found?.kind === Kind.STRING ? found.value : '';
  };
  return [text('name'), (text('as') || text('name')).slice(1)];
}

function readNumber(value: ConstValueNode | undefined): number | undefined {
  return value?.kind === Kind.INT || value?.kind === Kind.FLOAT ? Number(value.value) : undefined;
}

function readTexts(value: ConstValueNode | undefined): readonly string[] {
  if (value?.kind === Kind.STRING) return [value.value];
  if (value?.kind !== Kind.LIST) return [];
  return value.values.flatMap((one) => (one.kind === Kind.STRING ? [one.value] : []));
}
