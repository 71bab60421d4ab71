import SchemaBuilder, {
  BasePlugin,
  type FieldNullability,
  type InputFieldMap,
  type PothosOutputFieldConfig,
  type SchemaTypes,
  type TypeParam,
} from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';

import type { Caller, KeyScope } from '../../access/caller.ts';
import { enforce, enforceScope, scopeOf, type AuthMode, type Rule } from '../../access/policy.ts';
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
    }
  }
}

const rootKinds = new Set(['Query', 'Mutation', 'Subscription']);

class RulePlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    if (!rootKinds.has(field.kind)) return field;
    const rule = ruleOf(field);
    if (rule === undefined)
      throw new Error(`${field.parentType}.${field.name} has no rule (platform/access/policy.ts)`);
    return { ...field, extensions: { ...field.extensions, rule, scope: fieldScope(field, rule) } };
  }

  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    const rule = ruleOf(field);
    const scope = rule === undefined ? null : fieldScope(field, rule);
    // A subscription's resolver runs per event of a stream that was authorized already.
    if (rule === undefined || field.kind === 'Subscription') return resolver;
    return (source, values, context, info) => {
      enforceIn(context, rule, scope);
      refuseUnstorableText(values);
      return resolver(source, values, context, info);
    };
  }

  override wrapSubscribe(
    subscriber: GraphQLFieldResolver<unknown, Types['Context'], object> | undefined,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> | undefined {
    const rule = ruleOf(field);
    if (rule === undefined || subscriber === undefined) return subscriber;
    const scope = fieldScope(field, rule);
    return (source, values, context, info) => {
      enforceIn(context, rule, scope);
      refuseUnstorableText(values);
      return subscriber(source, values, context, info);
    };
  }
}

function ruleOf(field: { readonly kind: string; readonly pothosOptions: object }): Rule | undefined {
  return rootKinds.has(field.kind) ? (field.pothosOptions as { readonly rule?: Rule }).rule : undefined;
}

const KINDS = { Query: 'query', Mutation: 'mutation', Subscription: 'subscription' } as const;

function fieldScope(
  field: { readonly kind: string; readonly pothosOptions: object },
  rule: Rule,
): KeyScope | null {
  const { scope } = field.pothosOptions as { readonly scope?: KeyScope };
  return scopeOf({ rule, kind: KINDS[field.kind as keyof typeof KINDS], scope });
}

function enforceIn(context: object, rule: Rule, scope: KeyScope | null): void {
  const { caller, authMode } = context as RuleContext;
  enforce(rule, caller, authMode);
  enforceScope(caller, scope);
}

SchemaBuilder.registerPlugin('rule', RulePlugin);

/** The plugin's name for a builder's `plugins`; importing it registers the plugin. */
export const rulePlugin = 'rule' as const;
