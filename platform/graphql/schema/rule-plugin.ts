import SchemaBuilder, {
  BasePlugin,
  type FieldNullability,
  type InputFieldMap,
  type PothosOutputFieldConfig,
  type SchemaTypes,
  type TypeParam,
} from '@pothos/core';
import type { GraphQLFieldResolver, GraphQLResolveInfo } from 'graphql';

import { ownersIn, type AuditRecorder } from '../../access/audit.ts';
import type { Caller, KeyScope } from '../../access/caller.ts';
import { enforce, enforceScope, findNeededScope, type AuthMode, type Rule } from '../../access/policy.ts';
import { inSpan } from '../../tracing/span.ts';
import { oncePerSelection, selectsAny } from './needed-members.ts';
import { refuseUnstorableText } from './storable-text.ts';

/**
 * The Pothos plugin for authorization. Every root field must have a `rule` (checked by the types, and by the build
 * where the types are bypassed); it is enforced, and arguments are checked to be storable, before the resolver runs.
 * Fields below the root have no rules: the services check what they return.
 */

/** The part of a subgraph's context that the rules need. */
export interface RuleContext {
  readonly caller: Caller;
  readonly authMode: AuthMode;
  /** Writes down what administrators and operators do, and who signs in. */
  readonly audit?: AuditRecorder | undefined;
}

declare global {
  // Pothos' plugins extend its options by declaration merging, which is erased at run time.
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      rule: RulePlugin<Types>;
    }
    export interface QueryFieldOptions<
      Types extends SchemaTypes,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveReturnShape,
    > {
      /** Who may call this field (platform/access/policy.ts). */
      rule: Rule;
    }
    export interface MutationFieldOptions<
      Types extends SchemaTypes,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveReturnShape,
    > {
      /** Who may call this field (platform/access/policy.ts). */
      rule: Rule;
      /** The scope that a service key needs, where it is not `manage` or the one of its rule. */
      scope?: KeyScope;
      /** Written to the audit log; with the rules `admin` and `operator` it always is. */
      audited?: true;
    }
    export interface SubscriptionFieldOptions<
      Types extends SchemaTypes,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveShape,
      ResolveReturnShape,
    > {
      /** Who may subscribe to this field (platform/access/policy.ts). */
      rule: Rule;
      /** The scope that a service key needs, where it is not the one of its rule. */
      scope?: KeyScope;
    }
  }
}

const rootKinds = new Set(['Query', 'Mutation', 'Subscription']);

class RulePlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    if (!rootKinds.has(field.kind)) return field;
    const rule = readRule(field);
    if (rule === undefined)
      throw new Error(`${field.parentType}.${field.name} has no rule (platform/access/policy.ts)`);
    return { ...field, extensions: { ...field.extensions, rule, scope: fieldScope(field, rule) } };
  }

  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    const rule = readRule(field);
    const scope = rule === undefined ? null : fieldScope(field, rule);
    // A subscription's resolver runs per event of a stream that was authorized already.
    if (rule === undefined || field.kind === 'Subscription') return resolver;
    const name = `${field.parentType}.${field.name}`;
    return (source, values, context, info) => {
      enforceIn(context, rule, scope);
      refuseUnstorableText(values);
      const answer: unknown = inSpan(name, {}, () => resolver(source, values, context, info));
      return audited(context, answer, { field, rule, values, info });
    };
  }

  override wrapSubscribe(
    subscriber: GraphQLFieldResolver<unknown, Types['Context'], object> | undefined,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> | undefined {
    const rule = readRule(field);
    if (rule === undefined || subscriber === undefined) return subscriber;
    const scope = fieldScope(field, rule);
    const name = `${field.parentType}.${field.name}`;
    return (source, values, context, info) => {
      enforceIn(context, rule, scope);
      refuseUnstorableText(values);
      const answer: unknown = inSpan(name, {}, () => subscriber(source, values, context, info));
      return audited(context, answer, { field, rule, values, info });
    };
  }
}

function readRule(field: { readonly kind: string; readonly pothosOptions: object }): Rule | undefined {
  return rootKinds.has(field.kind) ? (field.pothosOptions as { readonly rule?: Rule }).rule : undefined;
}

const KINDS = { Query: 'query', Mutation: 'mutation', Subscription: 'subscription' } as const;

function fieldScope(
  field: { readonly kind: string; readonly pothosOptions: object },
  rule: Rule,
): KeyScope | null {
  const { scope } = field.pothosOptions as { readonly scope?: KeyScope };
  return findNeededScope({ rule, kind: KINDS[field.kind as keyof typeof KINDS], scope });
}

function enforceIn(context: object, rule: Rule, scope: KeyScope | null): void {
  const { caller, authMode } = context as RuleContext;
  enforce(rule, caller, authMode);
  enforceScope(caller, scope);
}

interface Audited {
  readonly field: { readonly kind: string; readonly name: string; readonly pothosOptions: object };
  readonly rule: Rule;
  readonly values: object;
  readonly info: GraphQLResolveInfo;
}

/** Fields that hold what people wrote. */
const WORDS: ReadonlySet<string> = new Set(['input', 'parameters']);
const selectsWords = oncePerSelection((info) => selectsAny(info, WORDS));

/** The answer, once what has to be written down is. */
function audited(context: object, answer: unknown, action: Audited): unknown {
  const { audit, caller } = context as RuleContext;
  if (audit === undefined || caller.kind === 'internal' || !mayConcernOthers(caller, action)) return answer;
  return Promise.resolve(answer).then(async (found: unknown) => {
    const target = findTarget(caller, action, found);
    const { kind, name } = action.field;
    const what = kind === 'Mutation' ? name : `read ${name}`;
    if (target !== undefined) await audit.record(caller, { what, target });
    return found;
  });
}

function mayConcernOthers({ kind, scopes }: Caller, { field, rule, info }: Audited): boolean {
  if (isAlwaysAudited(field, rule)) return true;
  // Programs ask how far work of their users is all the time: of them only reads of what people wrote are noted.
  if (kind === 'key' && rule !== 'public' && selectsWords(info)) return true;
  if (rule === 'proof' && field.kind === 'Query') return false;
  return scopes.includes('admin') && rule !== 'public' && rule !== 'spend';
}

function isAlwaysAudited({ kind, pothosOptions }: Audited['field'], rule: Rule): boolean {
  if (kind !== 'Mutation') return false;
  return rule === 'admin' || rule === 'operator' || (pothosOptions as { audited?: true }).audited === true;
}

/** The id of what the action was on; undefined when it was on nothing of others. */
function findTarget(
  caller: Caller,
  { field, rule, values }: Audited,
  found: unknown,
): string | null | undefined {
  // What proves a sign-in is a secret: there the answer says who it was.
  const asked = rule === 'proof' && field.kind === 'Mutation' ? null : namedIn(values);
  if (isAlwaysAudited(field, rule) || field.kind === 'Subscription') return asked ?? namedIn(found);
  const others = ownersIn(found).filter(({ owner }) => owner !== caller.id && owner !== 'anon');
  return others.length === 0 ? undefined : (asked ?? namedIn(others[0]) ?? null);
}

/** The id, code or user that arguments or an answer name. */
function namedIn(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const members = value as Readonly<Record<string, unknown>>;
  for (const name of ['id', 'code', 'codes', 'templateCode', 'userId', 'taskId']) {
    const found = members[name];
    if (typeof found === 'string' || typeof found === 'number') return String(found);
    if (Array.isArray(found)) return found.join(',');
  }
  return namedIn(members['key'] ?? members['input'] ?? members['user'] ?? members['signedIn'] ?? null);
}

SchemaBuilder.registerPlugin('rule', RulePlugin);

/** The plugin's name for a builder's `plugins`; importing it registers the plugin. */
export const rulePlugin = 'rule' as const;
