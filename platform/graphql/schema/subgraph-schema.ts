import { EntityType, entitiesField, serviceField } from '@apollo/subgraph/dist/types.js';
import { hasResolvableKey } from '@pothos/plugin-federation';
import {
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLUnionType,
  isObjectType,
  lexicographicSortSchema,
  isUnionType,
  type GraphQLFieldResolver,
} from 'graphql';

import { enforce, enforceScope, findNeededScope, type Rule } from '../../access/policy.ts';
import { badInput, toError } from '../../errors.ts';
import { once } from '../../once.ts';
import { quickResolver } from '../execution/entities.ts';
import type { RuleContext } from './rule-plugin.ts';
import { refuseUnstorableText } from './storable-text.ts';

/** The specification of federation that the subgraphs keep to. */
const LINK_URL = 'https://specs.apollo.dev/federation/v2.6';

/** What is used of a Pothos builder with the federation plugin. */
interface FederatedBuilder {
  toSchema(options: { readonly sortSchema: boolean }): GraphQLSchema;
  toSubGraphSchema(options: { readonly linkUrl: string }): GraphQLSchema;
}

/**
 * The executable schema of a subgraph, with the fields that federation adds to its queries. The plugin's own
 * `toSubGraphSchema` builds everything twice and prints the SDL at once, which is 0.4 s of a start; here the SDL is printed
 * by it when a router first asks for it.
 */
export function subgraphSchema(builder: FederatedBuilder): GraphQLSchema {
  const schema = builder.toSchema({ sortSchema: false });
  const query = schema.getQueryType();
  if (query == null) throw new Error('the subgraph has no queries');
  const types = Object.values(schema.getTypeMap()).filter((type) => type !== query);
  const entities = new GraphQLUnionType({
    ...EntityType.toConfig(),
    types: types.filter(isObjectType).filter((type) => hasResolvableKey(type)),
  });
  const sdl = once(() => printSdl(builder));
  const federated = new GraphQLObjectType({
    ...query.toConfig(),
    fields: {
      ...query.toConfig().fields,
      _entities: { ...entitiesField, type: new GraphQLNonNull(new GraphQLList(entities)) },
      _service: { ...serviceField, resolve: () => ({ sdl: sdl() }) },
    },
  });
  return lexicographicSortSchema(
    new GraphQLSchema({ ...schema.toConfig(), query: federated, types: [...types, federated] }),
  );
}

function printSdl(builder: FederatedBuilder): string {
  const service = builder.toSubGraphSchema({ linkUrl: LINK_URL }).getQueryType()?.getFields()['_service'];
  const resolve = service?.resolve as (() => { readonly sdl: string }) | undefined;
  if (resolve === undefined) throw new Error('the federation plugin made no _service');
  return resolve().sdl;
}

/**
 * Authorization of `_entities`, which federation adds to a subgraph's queries: reading an object by its key must not
 * bypass the rule of the root field that returns it.
 */

/** The rule of each entity type of a subgraph, by its name. */
type EntityRules = Readonly<Record<string, Rule>>;

type Resolve = GraphQLFieldResolver<unknown, RuleContext>;

/** Enforces the rules in the schema's `_entities`, for each reference. Throws when an entity type has no rule. */
export function enforceEntityRules(schema: GraphQLSchema, rules: EntityRules): GraphQLSchema {
  const field = schema.getQueryType()?.getFields()['_entities'];
  const types = schema.getType('_Entity');
  const resolve = field && (quickResolver(field) as Resolve | undefined);
  if (field === undefined || resolve === undefined || !isUnionType(types)) {
    throw new Error('the schema has no entities to rule');
  }
  for (const { name } of types.getTypes()) {
    if (!Object.hasOwn(rules, name))
      throw new Error(`the entity ${name} has no rule (platform/access/policy.ts)`);
  }
  field.resolve = guarded(resolve, rules) as NonNullable<typeof field.resolve>;
  field.extensions = { ...field.extensions, entityRules: rules };
  return schema;
}

function guarded(resolve: Resolve, rules: EntityRules): Resolve {
  return (source, { representations }, context, info) => {
    const refusals = (representations as readonly Reference[]).map((reference) =>
      checkReference(reference, rules, context),
    );
    const allowed = (representations as readonly Reference[]).filter((_, index) => refusals[index] === null);
    // A list at once; what has to be waited for are its members.
    const found = resolve(source, { representations: allowed }, context, info) as readonly unknown[];
    let next = 0;
    // An error in a list is the result of its place only.
    return refusals.map((refusal) => refusal ?? found[next++]);
  };
}

type Reference = Readonly<Record<string, unknown>>;

function checkReference(reference: Reference, rules: EntityRules, context: RuleContext): Error | null {
  const type = String(reference['__typename']);
  const rule = Object.hasOwn(rules, type) ? rules[type] : undefined;
  if (rule === undefined) return badInput('representations', `there is no entity ${type.slice(0, 100)}`);
  if (Object.values(reference).some((value) => value === null)) {
    return badInput('representations', `a key of ${type} is null`);
  }
  try {
    enforce(rule, context.caller, context.authMode);
    enforceScope(context.caller, findNeededScope({ rule, kind: 'query' }));
    // One that the database refuses would fail all that are read with it.
    refuseUnstorableText(reference);
    return null;
  } catch (thrown) {
    return toError(thrown);
  }
}
