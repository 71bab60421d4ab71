/** The parts of OpenAPI 3.1 that our documents are made of. */

/** An OpenAPI 3.1 document, as far as ours go. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string }[];
  /** No credential, or one: what is needed is for REST_AUTH and the rule of the operation to say. */
  readonly security: readonly object[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: OpenApiComponents;
}

/** What operations refer to. */
export interface OpenApiComponents {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** Answers that many operations share. */
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
  /** By status. What the interface description names is told here, what every operation may answer is a reference. */
  readonly responses: Readonly<Record<string, OpenApiResponse | Reference>>;
}

/** A value outside the body. */
export interface OpenApiParameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly description?: string;
}

/** What one status means. */
export interface OpenApiResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, object>>;
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

/** Something of `components`. */
interface Reference {
  readonly $ref: string;
}

/** A JSON Schema (2020-12), as far as these tables need it. */
export type JsonSchema = { readonly [keyword: string]: unknown };
