import {
  type ConstDirectiveNode,
  type ConstValueNode,
  type DocumentNode,
  getNamedType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  parse,
} from 'graphql';

import type { Caller } from '../../platform/access/caller.ts';

/** Who asks, as the security directives of a supergraph see it. */
export interface Rights {
  readonly isAuthenticated: boolean;
  readonly scopes: ReadonlySet<string>;
  readonly policies: ReadonlySet<string>;
}

/** What a field or type needs. */
export interface Requirement {
  /** Equal for equal requirements. */
  readonly key: string;
  readonly isMet: (rights: Rights) => boolean;
}

/** The security directives of a supergraph. */
export interface SecurityRules {
  readonly isEmpty: boolean;
  /** Every policy that it names. */
  readonly policies: ReadonlySet<string>;
  /**
   * What is needed for a field of a type. Of an interface everything that the same field of any object needs: whose rights
   * differ by type asks in fragments.
   */
  of(schema: GraphQLSchema, parent: GraphQLNamedType, fieldName: string): readonly Requirement[];
}

const NAMES = ['authenticated', 'requiresScopes', 'policy'] as const;

/** Reads the directives of a supergraph. */
export function readSecurityRules(supergraphSdl: string): SecurityRules {
  const document = parse(supergraphSdl, { noLocation: true });
  const named = findDirectiveNames(document);
  const policies = new Set<string>();
  const found = new Map<string, readonly Requirement[]>();
  const read = (at: string, directives: readonly ConstDirectiveNode[] = []): void => {
    const needed = directives.flatMap((directive) => readRequirement(directive, { named, policies }) ?? []);
    if (needed.length > 0) found.set(at, needed);
  };
  for (const definition of document.definitions) {
    if (!('name' in definition) || definition.kind === Kind.DIRECTIVE_DEFINITION) continue;
    if (!('directives' in definition) || definition.name === undefined) continue;
    const type = definition.name.value;
    read(type, definition.directives as readonly ConstDirectiveNode[]);
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.INTERFACE_TYPE_DEFINITION)
      continue;
    for (const field of definition.fields ?? []) read(`${type}.${field.name.value}`, field.directives);
  }
  return { isEmpty: found.size === 0, policies, of: createLookup(found) };
}

function createLookup(found: ReadonlyMap<string, readonly Requirement[]>): SecurityRules['of'] {
  const known = new Map<string, readonly Requirement[]>();
  return (schema, parent, fieldName) => {
    const at = `${parent.name}.${fieldName}`;
    const kept = known.get(at);
    if (kept !== undefined) return kept;
    const types = [parent, ...(isAbstractType(parent) ? schema.getPossibleTypes(parent) : [])];
    const result = 'getFields' in parent ? parent.getFields()[fieldName] : undefined;
    const places = types.flatMap(({ name }) => [name, `${name}.${fieldName}`]);
    if (result !== undefined) places.push(getNamedType(result.type).name);
    const needed = new Map(
      places.flatMap((place) => found.get(place) ?? []).map((one) => [one.key, one] as const),
    );
    const all = [...needed.values()];
    // As many as the schema has fields; what is asked for that it has not is not kept.
    if (result !== undefined) known.set(at, all);
    return all;
  };
}

type SecurityName = (typeof NAMES)[number];

/** What the directives are called in this supergraph. */
function findDirectiveNames(document: DocumentNode): ReadonlyMap<string, SecurityName> {
  const names = new Map<string, SecurityName>();
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.SCHEMA_DEFINITION && definition.kind !== Kind.SCHEMA_EXTENSION) continue;
    for (const { name, arguments: given = [] } of definition.directives ?? []) {
      if (name.value !== 'link' && name.value !== 'core') continue;
      const text = (wanted: string) => {
        const value = given.find((one) => one.name.value === wanted)?.value;
        return value?.kind === Kind.STRING ? value.value : undefined;
      };
      const url = text('url') ?? text('feature') ?? '';
      const known = NAMES.find((one) => url.startsWith(`https://specs.apollo.dev/${one}/`));
      if (known !== undefined) names.set(text('as') ?? known, known);
    }
  }
  return names;
}

function readRequirement(
  { name, arguments: given = [] }: ConstDirectiveNode,
  { named, policies }: { readonly named: ReadonlyMap<string, SecurityName>; readonly policies: Set<string> },
): Requirement | null {
  const kind = named.get(name.value);
  if (kind === undefined) return null;
  if (kind === 'authenticated') return { key: kind, isMet: ({ isAuthenticated }) => isAuthenticated };
  // Any of the lists, and of a list everything.
  const lists = readLists(given[0]?.value);
  const right = kind === 'policy' ? 'policies' : 'scopes';
  if (kind === 'policy') for (const one of lists.flat()) policies.add(one);
  return {
    key: `${kind} ${JSON.stringify(lists)}`,
    isMet: (rights) => lists.some((list) => list.every((one) => rights[right].has(one))),
  };
}

function readLists(value: ConstValueNode | undefined): readonly (readonly string[])[] {
  if (value?.kind !== Kind.LIST) return [];
  return value.values.map((list) =>
    list.kind === Kind.LIST
      ? list.values.flatMap((one) => (one.kind === Kind.STRING ? [one.value] : []))
      : [],
  );
}

/** What claims give. */
interface RightsOptions {
  /** The claim with scopes: a list, or a text with spaces. */
  readonly scopesClaim?: string | undefined;
  /** Who has a policy: whose claim is there, or is or holds one of the values. */
  readonly policies?:
    | Readonly<Record<string, { readonly claim: string; readonly anyOf?: readonly string[] | undefined }>>
    | undefined;
}

/** Finds the rights of callers. */
export function createRights({
  scopesClaim = 'scope',
  policies = {},
}: RightsOptions): (caller: Caller) => Rights {
  const known = new WeakMap<object, Rights>();
  return ({ kind, claims, scopes }) => {
    if (kind === 'anonymous') return NO_RIGHTS;
    // Kiln's own tokens have no claims.
    if (claims === undefined) return { isAuthenticated: true, scopes: new Set(scopes), policies: NONE };
    const found = known.get(claims);
    if (found !== undefined) return found;
    const given = Object.entries(policies).filter(([, { claim, anyOf }]) => {
      const values = readTexts(claims[claim]);
      return anyOf === undefined ? values.length > 0 : anyOf.some((one) => values.includes(one));
    });
    const rights: Rights = {
      isAuthenticated: true,
      scopes: new Set(readTexts(claims[scopesClaim]).flatMap((text) => text.split(' '))),
      policies: new Set(given.map(([name]) => name)),
    };
    known.set(claims, rights);
    return rights;
  };
}

const NONE: ReadonlySet<string> = new Set();
const NO_RIGHTS: Rights = { isAuthenticated: false, scopes: NONE, policies: NONE };

/** What a claim is or holds, as texts. */
function readTexts(claim: unknown): readonly string[] {
  if (Array.isArray(claim)) return claim.map(String);
  if (claim === undefined || claim === null || claim === false || claim === '') return [];
  return [typeof claim === 'object' ? JSON.stringify(claim) : `${claim as string | number}`];
}
