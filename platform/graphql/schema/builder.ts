import SchemaBuilder, { type ObjectRef } from '@pothos/core';
import DirectivesPlugin from '@pothos/plugin-directives';
import FederationPlugin from '@pothos/plugin-federation';

import type { Json } from '../../json.ts';
import { createPageInfo, MOST_COUNTED, type PageInfoShape } from '../../paging.ts';
import { nullableRootsPlugin } from './nullable-roots-plugin.ts';
import { rulePlugin, type RuleContext } from './rule-plugin.ts';
import { dateTimeScalar, jsonScalar } from './scalars.ts';

/**
 * The Pothos schema builder of the subgraphs: plugins, root types, scalars and page info. What two subgraphs share must
 * be defined and described alike, or composition gives hints.
 */

/** Types of a subgraph's schema: its context, and its own scalars. */
interface TypesOf<Context extends RuleContext, OwnScalars> {
  readonly Context: Context;
  readonly DefaultFieldNullability: false;
  readonly Scalars: OwnScalars & {
    ID: { Input: string; Output: string | number };
    DateTime: { Input: Date; Output: Date };
    JSON: { Input: NonNullable<Json>; Output: unknown };
  };
}

type Extended<Types> = PothosSchemaTypes.ExtendDefaultTypes<Types & object>;

/** A page of a connection; `after` is the cursor it was requested with. */
interface Page {
  readonly hasNextPage: boolean;
  readonly after: string | null;
}

/** How a connection reads its pages. */
interface ConnectionOptions<Item, ItemsPage> {
  /** Name of the item type: `Task` makes `TaskConnection` and `TaskEdge`. */
  readonly name: string;
  /** What descriptions call the items; the name with an s when absent. */
  readonly plural?: string;
  readonly readItems: (page: ItemsPage) => readonly Item[];
  /** Cursor of an item; its id when absent. */
  readonly formatCursor?: (item: Item) => string;
  /** How descriptions say the order; newest first when absent. */
  readonly order?: string;
  /** Counts the items of all pages; without it the connection has no `totalCount`. */
  readonly readCount?: (page: ItemsPage) => Promise<number>;
}

/** The builder of one subgraph, and its connections. */
export interface SubgraphBuilder<Types> {
  readonly builder: PothosSchemaTypes.SchemaBuilder<Extended<Types>>;
  /** Defines the connection of a type and its edge. */
  readonly connection: <Item, ItemsPage extends Page>(
    node: ObjectRef<Extended<Types>, Item>,
    options: ConnectionOptions<Item, ItemsPage>,
  ) => ObjectRef<Extended<Types>, ItemsPage>;
}

type Base = TypesOf<RuleContext, unknown>;

/** Makes the builder of a subgraph. */
export function createSubgraphBuilder<Context extends RuleContext, OwnScalars = unknown>() {
  const builder = new SchemaBuilder<Base>({
    plugins: [rulePlugin, nullableRootsPlugin, DirectivesPlugin, FederationPlugin],
    defaultFieldNullability: false,
  });
  builder.queryType({
    description: 'Everything that can be read. A field that fails is null; the others are answered.',
  });
  builder.mutationType({
    description:
      'Everything that starts, changes or deletes something. A field that fails is null; the others are done and answered.',
  });
  builder.subscriptionType({
    description: 'What can be watched live; each can be resumed where it was left.',
  });
  builder.scalarType('DateTime', dateTimeScalar);
  builder.scalarType('JSON', jsonScalar);
  const connection = createConnections(builder);
  // Plugins, root types and shared scalars do not depend on the context and the other scalars.
  return { builder, connection } as unknown as SubgraphBuilder<TypesOf<Context, OwnScalars>>;
}

function definePageInfo(builder: SubgraphBuilder<Base>['builder']) {
  return builder.objectRef<PageInfoShape>('PageInfo').implement({
    description: 'Where a page of a list stands.',
    shareable: true,
    fields: (t) => ({
      hasNextPage: t.exposeBoolean('hasNextPage', { description: 'Whether more comes after this page.' }),
      hasPreviousPage: t.exposeBoolean('hasPreviousPage', {
        description: 'Whether the page was requested after a cursor.',
      }),
      startCursor: t.exposeString('startCursor', {
        nullable: true,
        description: 'Cursor of the first item; null when the page is empty.',
      }),
      endCursor: t.exposeString('endCursor', {
        nullable: true,
        description: 'Cursor of the last item, to be sent as `after`; null when the page is empty.',
      }),
    }),
  });
}

function createConnections(builder: SubgraphBuilder<Base>['builder']) {
  const PageInfo = definePageInfo(builder);
  return (
    node: ObjectRef<Extended<Base>, unknown>,
    {
      name,
      plural = `${name.toLowerCase()}s`,
      order = 'newest first',
      readItems,
      formatCursor = readId,
      readCount,
    }: ConnectionOptions<unknown, Page>,
  ) => {
    const noun = plural.replace(/ies$/, 'y').replace(/s$/, '');
    const Edge = builder.objectRef<unknown>(`${name}Edge`).implement({
      description: `${/^[aeiou]/.test(noun) ? 'An' : 'A'} ${noun} within a list.`,
      fields: (t) => ({
        cursor: t.string({
          description: `Send it as \`after\` to go on behind this ${noun}.`,
          resolve: (item) => formatCursor(item),
        }),
        node: t.field({ type: node, description: `The ${noun}.`, resolve: (item) => item }),
      }),
    });
    return builder.objectRef<Page>(`${name}Connection`).implement({
      description: `A page of ${plural}, ${order}.`,
      fields: (t) => ({
        edges: t.field({
          type: [Edge],
          description: `The ${plural}.`,
          resolve: (page) => [...readItems(page)],
        }),
        ...(readCount && {
          totalCount: t.int({
            description: `How many there are on all pages. Long lists are counted up to ${MOST_COUNTED}: ${MOST_COUNTED + 1} says that there are more.`,
            resolve: readCount,
          }),
        }),
        pageInfo: t.field({
          type: PageInfo,
          description: 'Where this page stands.',
          resolve: (page) => createPageInfo(readItems(page).map(formatCursor), page),
        }),
      }),
    });
  };
}

/** The id of an item, which is its cursor unless the connection says otherwise. */
function readId(item: unknown): string {
  return (item as { readonly id: string }).id;
}
