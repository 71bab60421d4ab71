/** How the vendor of a model names the typed inputs, for wires on which every model has fields of its own. */
export interface ModelWire {
  /** Typed input -> the vendor's field; an input without one is not sent. */
  readonly fields: Readonly<Record<string, VendorField>>;
  /** What is appended to the model's name, with and without a picture among the inputs. */
  readonly paths?: { readonly pictures: string; readonly words: string } | undefined;
  /** The version that is run, where the vendor runs no model by its name alone. */
  readonly version?: string | undefined;
}

/** A field of a vendor, and the form that it has there. */
export interface VendorField {
  readonly name: string;
  readonly as?: FieldForm | undefined;
}

/**
 * `list`: several addresses; `text`: a number as text; `seconds`: the same with an s; `size`: fal's words for aspect ratios,
 * or width and height.
 */
type FieldForm = (typeof fieldForms)[number];

/** Every form. */
export const fieldForms = ['list', 'text', 'seconds', 'size'] as const;
