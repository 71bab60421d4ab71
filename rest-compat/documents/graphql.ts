import type { DocumentDecoration, initGraphQLTada, ResultOf, VariablesOf } from 'gql.tada';
import { type DefinitionNode, type DocumentNode, Kind, parse, print } from 'graphql';

import type { Json } from '../../platform/json.ts';
import type { introspection } from './introspection.d.ts';

/** A GraphQL document that carries the types of its result and of its variables. */
export type Operation<Data, Variables> = DocumentNode & DocumentDecoration<Data, Variables>;

/** Values of this type, immutable; an optional member may also be undefined. */
export type Immutable<Value> = Json extends Value
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Immutable<Item>[]
    : Value extends object
      ? {
          readonly [Name in keyof Value]:
            | Immutable<Value[Name]>
            | (object extends Pick<Value, Name> ? undefined : never);
        }
      : Value;

/** What a document answers. */
export type DataOf<Document> = Immutable<ResultOf<Document>>;

/** What a document takes. */
export type InputOf<Document> = Immutable<VariablesOf<Document>>;

/**
 * Parses a document, and adds the fragments that it uses. gql.tada infers the types of result and variables from the text and
 * the schema; it is imported for its types alone, so the service runs without it.
 */
export const graphql = ((text: string, fragments: readonly DocumentNode[] = []): DocumentNode => {
  const used = fragments.flatMap(({ definitions }) => definitions);
  const definitions = [...parse(text, { noLocation: true }).definitions, ...used];
  return { kind: Kind.DOCUMENT, definitions: [...new Set<DefinitionNode>(definitions)] };
}) as unknown as initGraphQLTada<{
  introspection: introspection;
  disableMasking: true;
  scalars: { ID: string; JSON: Json; DateTime: string; Upload: unknown };
}>;

const texts = new WeakMap<DocumentNode, string>();

/** The text of a document, as the executor takes it. */
export function printDocument(document: DocumentNode): string {
  const text = texts.get(document) ?? print(document);
  texts.set(document, text);
  return text;
}
