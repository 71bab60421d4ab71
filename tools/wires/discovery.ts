/** What of a discovery document of Google is read here. */
interface Discovery {
  readonly discoveryVersion: string;
  readonly version: string;
  readonly schemas: Readonly<Record<string, unknown>>;
  readonly parameters?: Readonly<Record<string, { readonly location?: string }>>;
  readonly resources?: Resources;
}

type Resources = Readonly<
  Record<string, { readonly methods?: Readonly<Record<string, Method>>; readonly resources?: Resources }>
>;

interface Method {
  readonly httpMethod: string;
  readonly path: string;
  readonly flatPath?: string;
  readonly request?: { readonly $ref: string };
  readonly parameters?: Readonly<Record<string, { readonly location?: string }>>;
}

/** Whether a document is one of Google's discovery. */
export function isDiscovery(document: unknown): document is Discovery {
  return typeof document === 'object' && document !== null && 'discoveryVersion' in document;
}

/** The same as OpenAPI, its paths below the version. */
export function toOpenApi({ version, schemas, parameters = {}, resources = {} }: Discovery): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const method of collectMethods(resources)) {
    const path = `/${(method.flatPath ?? method.path).replace(`${version}/`, '')}`;
    const queries = Object.entries({ ...parameters, ...method.parameters }).filter(
      ([, { location }]) => location === 'query',
    );
    const schema = { $ref: `#/components/schemas/${method.request?.$ref}` };
    paths[path] = {
      ...paths[path],
      [method.httpMethod.toLowerCase()]: {
        parameters: queries.map(([name]) => ({ name, in: 'query' })),
        ...(method.request && { requestBody: { content: { 'application/json': { schema } } } }),
      },
    };
  }
  return { paths, components: { schemas: converted(schemas) } };
}

function collectMethods(resources: Resources): readonly Method[] {
  return Object.values(resources).flatMap(({ methods = {}, resources: inner = {} }) => [
    ...Object.values(methods),
    ...collectMethods(inner),
  ]);
}

/** `$ref` names a schema there; `any` is no type of JSON Schema. */
function converted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(converted);
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...rest } = value as Readonly<Record<string, unknown>>;
  const inner = Object.fromEntries(
    Object.entries(rest)
      .filter(([name, one]) => !(name === 'type' && one === 'any') && name !== 'id')
      .map(([name, one]) => [name, converted(one)]),
  );
  if (typeof $ref === 'string') return { ...inner, $ref: `#/components/schemas/${$ref}` };
  return inner;
}
