import {
  type DocumentNode,
  getNamedType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isObjectType,
  isUnionType,
  Kind,
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
} from 'graphql';

/** What the clients read: the fields of each type, by the fragments of graph.graphql. */
export type Selection = ReadonlyMap<string, readonly GraphQLField<unknown, unknown>[]>;

/** Reads graph.graphql. Throws where it names a type or a field that is not there, or reads a type without a fragment. */
export function readSelection(schema: GraphQLSchema, document: DocumentNode): Selection {
  const selection = new Map<string, readonly GraphQLField<unknown, unknown>[]>();
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.FRAGMENT_DEFINITION) continue;
    const type = schema.getType(definition.typeCondition.name.value);
    if (!isObjectType(type)) throw new Error(`no type ${definition.typeCondition.name.value}`);
    const names = definition.selectionSet.selections.flatMap((one) =>
      one.kind === Kind.FIELD ? [one.name.value] : [],
    );
    selection.set(
      type.name,
      names.map((name) => findField(type, name)),
    );
  }
  for (const field of [...selection.values()].flat()) expectFragments(selection, field);
  return selection;
}

function findField(type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> {
  const field = type.getFields()[name];
  if (field === undefined) throw new Error(`${type.name} has no ${name}`);
  return field;
}

function expectFragments(selection: Selection, { name, type }: GraphQLField<unknown, unknown>): void {
  const missing = listMembers(getNamedType(type)).filter((one) => !selection.has(one.name));
  if (missing.length > 0) throw new Error(`${name} needs a fragment on ${missing.map(String).join(', ')}`);
}

/** The object types of a field's type: none of a scalar, several of a union. */
function listMembers(type: unknown): readonly GraphQLObjectType[] {
  if (isUnionType(type)) return type.getTypes();
  return isObjectType(type) ? [type] : [];
}

/** What a request selects of a type, its fragments written out, as small as it goes. */
export function selectionText(selection: Selection, name: string): string {
  const fields = (selection.get(name) ?? []).map((field) => {
    const type = getNamedType(field.type);
    if (isUnionType(type)) {
      const parts = type.getTypes().map((one) => `...on ${one.name}{${selectionText(selection, one.name)}}`);
      return `${field.name}{__typename ${parts.join(' ')}}`;
    }
    return isObjectType(type) ? `${field.name}{${selectionText(selection, type.name)}}` : field.name;
  });
  return fields.join(' ');
}

/** How each kind of work is started: its name here, and the mutation. */
const MUTATIONS: Readonly<Record<string, string>> = {
  image: 'generateImage',
  description: 'describeImage',
  video: 'generateVideo',
  frameVideo: 'generateFrameVideo',
  speech: 'synthesizeSpeech',
  voiceClone: 'cloneVoice',
  analysis: 'analyzeMedia',
  lipSync: 'lipSync',
  character: 'createCharacter',
  characterImage: 'generateCharacterImage',
  personDetection: 'detectPerson',
  humanVideo: 'generateHumanVideo',
  avatarSource: 'uploadAvatarSource',
  avatar: 'createAvatar',
  avatarVideo: 'generateAvatarVideo',
  comfyWorkflow: 'runComfyWorkflow',
  recipe: 'createTask',
};

/** A kind of work and its mutation. */
export interface Start {
  readonly kind: string;
  readonly field: GraphQLField<unknown, unknown>;
  /** The arguments that say what is wanted: without those that every start has. */
  readonly args: GraphQLField<unknown, unknown>['args'];
}

/** The kinds of work. Throws when a mutation that starts a task has no name here. */
export function readStarts(schema: GraphQLSchema): readonly Start[] {
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {});
  const starting = fields.filter(
    ({ type, args }) => getNamedType(type).name === 'Task' && args.some(({ name }) => name === 'callbackUrl'),
  );
  const unnamed = starting.filter(({ name }) => !Object.values(MUTATIONS).includes(name));
  if (unnamed.length > 0) throw new Error(`${unnamed.map(({ name }) => name).join(', ')} have no kind`);
  return Object.entries(MUTATIONS).map(([kind, name]) => {
    const field = starting.find((one) => one.name === name);
    if (field === undefined) throw new Error(`no mutation ${name} for ${kind}`);
    const isCommon = (arg: string) => starting.every(({ args }) => args.some(({ name }) => name === arg));
    return { kind, field, args: field.args.filter((arg) => !isCommon(arg.name)) };
  });
}

/** The one argument `input`, where a start takes its input so. */
export function findInput(start: Start) {
  const [only, ...others] = start.args;
  return only?.name === 'input' && others.length === 0 ? only : undefined;
}

/** The types that the clients need, each once and by name. */
interface NeededTypes {
  readonly enums: readonly GraphQLEnumType[];
  readonly inputs: readonly GraphQLInputObjectType[];
  /** Unions by name with the names of their members. */
  readonly unions: readonly { readonly name: string; readonly members: readonly string[] }[];
}

/** What starts and selections need, and what those need themselves. */
export function neededTypes(
  schema: GraphQLSchema,
  starts: readonly Start[],
  selection: Selection,
): NeededTypes {
  const seen = new Map<string, GraphQLNamedType>();
  const take = (type: GraphQLNamedType) => {
    if (seen.has(type.name)) return;
    seen.set(type.name, type);
    if (isInputObjectType(type))
      for (const field of Object.values(type.getFields())) take(getNamedType(field.type));
  };
  for (const start of starts) for (const { type } of start.args) take(getNamedType(type));
  for (const field of [...selection.values()].flat()) take(getNamedType(field.type));
  for (const name of ['ChatInput', 'TaskFilter']) {
    const type = schema.getType(name);
    if (type) take(type);
  }
  const types = [...seen.values()].toSorted((one, other) => one.name.localeCompare(other.name));
  return {
    enums: types.filter(isEnumType),
    inputs: types.filter(isInputObjectType),
    unions: types
      .filter(isUnionType)
      .map((union) => ({ name: union.name, members: union.getTypes().map(({ name }) => name) })),
  };
}
