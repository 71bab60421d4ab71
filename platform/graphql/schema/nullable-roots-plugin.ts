import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import type { GraphQLFieldExtensions } from 'graphql';

/**
 * The Pothos plugin that makes every field of Query and Mutation nullable. A non-null root field that fails makes all
 * of `data` null, which would hide what the other fields of the document answered or paid for. Resolvers are still typed
 * as the field is declared; fields that were declared non-null are null only together with an error, and marked so.
 */

declare global {
  // Pothos' plugins extend its options by declaration merging, which is erased at run time.
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      nullableRoots: NullableRootsPlugin<Types>;
    }
  }
}

const nullableKinds = new Set(['Query', 'Mutation']);

class NullableRootsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    if (!nullableKinds.has(field.kind) || field.type.nullable) return field;
    return {
      ...field,
      type: { ...field.type, nullable: true },
      extensions: { ...field.extensions, isNullOnlyOnError: true },
    };
  }
}

SchemaBuilder.registerPlugin('nullableRoots', NullableRootsPlugin);

/** The plugin's name for a builder's `plugins`; importing it registers the plugin. */
export const nullableRootsPlugin = 'nullableRoots' as const;

/** Whether a field is null only together with an error. */
export function isNullOnlyOnError({
  extensions,
}: {
  readonly extensions: GraphQLFieldExtensions<unknown, unknown>;
}) {
  return extensions['isNullOnlyOnError'] === true;
}
