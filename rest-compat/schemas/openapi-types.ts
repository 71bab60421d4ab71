/** The parts of OpenAPI 3.1 that our documents use. */

/** An OpenAPI 3.1 document, as far as ours go. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string }[];
  /** None or a bearer token: REST_AUTH and the rule of the operation decide which. */
  readonly security: readonly object[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: OpenApiComponents;
}

/** What operations refer to. */
export interface OpenApiComponents {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** Responses that many operations share. */
  readonly responses: Readonly<Record<string, OpenApiResponse>>;
  readonly securitySchemes: object;
}

/** One method of one path. */
export interface OpenApiOperation {
  readonly tags: readonly string[];
  readonly operationId: string;
  /** What it does, in a sentence. */
  readonly summary?: string;
  readonly deprecated?: true;
  /** Not in the documents: added by us. */
  readonly 'x-extension'?: true;
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>;
  };
  /** By status: the operation's own ones, and references to those that every operation shares. */
  readonly responses: Readonly<Record<string, OpenApiResponse | Reference>>;
}

/** An input outside of the body. */
export interface OpenApiParameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly description?: string;
}

/** The response with one status. */
export interface OpenApiResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, object>>;
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

/** A reference into `components`. */
interface Reference {
  readonly $ref: string;
}

/** A JSON Schema (2020-12). */
export type JsonSchema = { readonly [keyword: string]: unknown };
