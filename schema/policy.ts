import { type DocumentNode, getOperationAST, type GraphQLSchema, isUnionType, Kind, print } from 'graphql';

import type { KeyScope } from '../platform/access/caller.ts';
import { findNeededScope, type Rule } from '../platform/access/policy.ts';
import type { Route, Section } from '../rest-compat/route/route.ts';

/**
 * The policy, collected from the code: the rule of each root field, entity and REST route. Throws for the first without
 * one, so that nothing without a rule passes `npm run schema`.
 */
export interface Policy {
  readonly fields: readonly RuledField[];
  readonly entities: readonly RuledEntity[];
  readonly routes: readonly RuledRoute[];
}

interface RuledField {
  readonly subgraph: string;
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly name: string;
  readonly rule: Rule;
  /** What a service key needs; null: nothing. */
  readonly scope: KeyScope | null;
}

interface RuledEntity {
  readonly subgraph: string;
  readonly name: string;
  readonly rule: Rule;
}

interface RuledRoute {
  readonly service: 'media' | 'workflow';
  readonly section: string;
  readonly route: Route;
  /** The strictest of its own rule and those of its root fields. */
  readonly rule: Rule;
  /** The scopes that a service key needs: those of its root fields. */
  readonly scopes: readonly KeyScope[];
  /** Names of its root fields. */
  readonly asks: readonly string[];
}

/** Strictness of the rules; rules of the same number allow the same callers. */
const STRICTNESS: Readonly<Record<Rule, number>> = {
  public: 0,
  proof: 0,
  anyone: 1,
  owner: 1,
  spend: 1,
  unpaid: 2,
  admin: 3,
  operator: 4,
  service: 5,
};

/** Collects the policy. Throws when a root field, an entity or a route has no rule, or a route loosens one. */
export function collectPolicy(
  subgraphs: readonly { readonly name: string; readonly schema: GraphQLSchema }[],
  sections: readonly Section[],
): Policy {
  const fields = subgraphs.flatMap(listFields);
  const entities = subgraphs.flatMap(listEntities);
  const rules = new Map(fields.map((field) => [`${field.kind} ${field.name}`, field]));
  const routes = sections.flatMap(({ service, title, routes: own }) =>
    own.map((route) => ({ service, section: title, route, ...ruleOfRoute(route, rules) })),
  );
  return { fields, entities, routes };
}

/** The rules of all root fields as data, by kind and name: what the gateway knows before it plans an operation. */
export function rootFieldRules({
  fields,
}: Policy): Record<string, Record<string, Pick<RuledField, 'rule' | 'scope'>>> {
  const kinds = ['query', 'mutation', 'subscription'] as const;
  return Object.fromEntries(
    kinds.map((kind) => [
      kind,
      Object.fromEntries(
        fields.filter((field) => field.kind === kind).map(({ name, rule, scope }) => [name, { rule, scope }]),
      ),
    ]),
  );
}

function checkedRule(rule: unknown, what: string): Rule {
  if (typeof rule === 'string' && Object.hasOwn(STRICTNESS, rule)) return rule as Rule;
  throw new Error(`${what} has no rule (platform/access/policy.ts)`);
}

function listFields({ name: subgraph, schema }: { readonly name: string; readonly schema: GraphQLSchema }) {
  const roots = {
    query: schema.getQueryType(),
    mutation: schema.getMutationType(),
    subscription: schema.getSubscriptionType(),
  };
  return (['query', 'mutation', 'subscription'] as const).flatMap((kind) =>
    Object.values(roots[kind]?.getFields() ?? {})
      // Federation's own fields: `_service` is public as the schema is, `_entities` has a rule for each type.
      .filter(({ name }) => name !== '_service' && name !== '_entities')
      .map(({ name, extensions }) => {
        const rule = checkedRule(extensions['rule'], `the ${kind} ${name} of ${subgraph}`);
        const own = extensions['scope'] as KeyScope | null | undefined;
        return {
          subgraph,
          kind,
          name,
          rule,
          scope: own === undefined ? findNeededScope({ rule, kind }) : own,
        };
      }),
  );
}

function listEntities({ name: subgraph, schema }: { readonly name: string; readonly schema: GraphQLSchema }) {
  const field = schema.getQueryType()?.getFields()['_entities'];
  const types = schema.getType('_Entity');
  if (field === undefined || !isUnionType(types)) return [];
  const rules = (field.extensions['entityRules'] ?? {}) as Readonly<Record<string, unknown>>;
  return types.getTypes().map(({ name }) => {
    return { subgraph, name, rule: checkedRule(rules[name], `the entity ${name} of ${subgraph}`) };
  });
}

function ruleOfRoute(route: Route, rules: ReadonlyMap<string, RuledField>) {
  const what = `${route.method} ${route.path}`;
  const documents = [route.document, route.first?.document].filter(
    (document) => document !== null && document !== undefined,
  );
  const rootFields = documents.flatMap(listRootFields);
  const inherited = rootFields.map((name) => checkedRule(rules.get(name)?.rule, `${what}: ${name}`));
  const own = route.rule === undefined ? [] : [checkedRule(route.rule, what)];
  // A route's own rule first: of equally strict rules it describes the route best.
  const rule = [...own, ...inherited].reduce<Rule | undefined>(stricter, undefined);
  if (own[0] !== undefined && rule !== own[0]) {
    throw new Error(`${what} loosens a rule from ${rule} to ${own[0]}: a route may only tighten`);
  }
  return {
    rule: checkedRule(rule, what),
    scopes: listScopes(route, rootFields, rules),
    asks: rootFields.map((name) => name.slice(name.indexOf(' ') + 1)),
  };
}

/** A route without a document stores a file; one that waits for a task reads it. */
function listScopes(
  { document, wait }: Route,
  rootFields: readonly string[],
  fields: ReadonlyMap<string, RuledField>,
): readonly KeyScope[] {
  const names = document === null ? ['mutation uploadFile'] : rootFields;
  const scopes = names.map((name) => fields.get(name)?.scope ?? null).filter((scope) => scope !== null);
  return [...new Set(wait === undefined ? scopes : [...scopes, 'read' as const])];
}

function stricter(one: Rule | undefined, other: Rule): Rule {
  return one === undefined || STRICTNESS[other] > STRICTNESS[one] ? other : one;
}

/** `query task` and the like. */
function listRootFields(document: DocumentNode): readonly string[] {
  const operation = getOperationAST(document);
  if (operation === null || operation === undefined) throw new Error(`not one operation: ${print(document)}`);
  return operation.selectionSet.selections.map((selection) => {
    if (selection.kind !== Kind.FIELD) {
      throw new Error(`a document of a route names its root fields themselves: ${print(document)}`);
    }
    return `${operation.operation} ${selection.name.value}`;
  });
}
