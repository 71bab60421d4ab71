/** The part of JSON Schema in which the API describes the options of models: see `Model.optionsSchema`. */
export interface OptionSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
  readonly maxLength?: number;
  readonly items?: OptionSchema;
  readonly properties?: Readonly<Record<string, OptionSchema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly OptionSchema[];
  readonly default?: unknown;
  readonly title?: string;
  readonly description?: string;
  /** The typed input that says the same. */
  readonly 'x-input'?: string;
  /** The kinds of work that have it; absent: all. */
  readonly 'x-kinds'?: readonly string[];
}
