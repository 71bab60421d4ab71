import type { OptionsSchema } from './vendor-options/schema.ts';

/** What a model can do, as machine-readable limits. A list that is null names no limit. */
export interface ModelLimits {
  readonly id: string;
  readonly name: string;
  /** Like that of the kinds it does (domain/work): image, video, ... */
  readonly category: string;
  /** Kinds of work it does: IMAGE, VIDEO, ..., and CHAT. */
  readonly kinds: readonly string[];
  /** Names of accepted inputs, as the inputs of the API name them: prompt, firstFrame, lastFrame, ... */
  readonly inputs: readonly string[];
  /** Inputs it can't do without, besides those that the API itself demands. */
  readonly needs: readonly string[];
  /** Accepted values of `resolution`. */
  readonly sizes: readonly string[] | null;
  /** Accepted values of `aspectRatio`. */
  readonly aspectRatios: readonly string[] | null;
  /** Accepted values of `duration`, in seconds. */
  readonly durations: readonly number[] | null;
  /** Accepted values of `format`. */
  readonly formats: readonly string[] | null;
  /** Least and most of an input that is a number. */
  readonly ranges: Readonly<Record<string, readonly [least: number, most: number]>>;
  /** Most characters of a prompt, or of a text to be spoken. */
  readonly maxPrompt: number | null;
  /** Accepted numbers of results, where not every number up to `maxCount` is. */
  readonly counts: readonly number[] | null;
  /** Aspect ratios that it makes: any other accepted one is met by the nearest of them. Null where each is met exactly. */
  readonly nearestRatios: readonly string[] | null;
  /** Sizes of videos with a last frame; null where it has all of its sizes then. */
  readonly lastFrameSizes: readonly string[] | null;
  /** Whether a video that begins with an image has the image's shape, whatever aspect ratio is requested. */
  readonly imageDecidesShape: boolean;
  /** Most results of one request. */
  readonly maxCount: number | null;
  /** Most input images of one request. */
  readonly maxImages: number | null;
  /** What it takes besides, by the names of its vendor; null where none is known. */
  readonly options: OptionsSchema | null;
}

/** How the vendor of a model names the typed inputs, for wires on which every model has fields of its own. */
export interface ModelWire {
  /** Typed input -> the vendor's field; an input without one is not sent. */
  readonly fields: Readonly<Record<string, VendorField>>;
  /** What is appended to the model's name, with and without an image among the inputs. */
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
