import type { Problem } from '../../../../platform/errors.ts';
import type { JsonObject } from '../../../../platform/json.ts';
import type { Limits } from '../inputs/checks.ts';
import type { FileKind, InputRef } from '../inputs/input-files.ts';

/** What every kind of work has: who does it. */
export interface AtGenerator {
  readonly generator: string;
  /** One of the generator's models; absent means its default. */
  readonly model?: string;
  /** What the model takes besides the typed inputs, by the names of its vendor. */
  readonly options?: JsonObject;
}

/** Everything that the program must know of one kind of work, besides the shape of its inputs. */
export interface KindRules<Work> {
  /** What it makes, as the API describes it. */
  readonly description: string;
  /** The root field that starts it; also the operation of its fingerprints. */
  readonly mutation: string;
  /** The generator that does it unless callers name one; absent where they must. */
  readonly generator?: string;
  /** Category of the models that do it, as callers filter by it. */
  readonly category: string;
  /** The inputs that are files, in order. */
  readonly files: { readonly [Name in FileInputs<Work>]: FileRule<Work[Name]> };
  /** Whether its fingerprints say which file is which input. */
  readonly namesFiles?: true;
  readonly result: ResultKind;
  /** Seconds that an attempt may take at a bundled binding. */
  readonly timeoutSeconds: number;
  /** Its share of a recipe's progress, among the steps of the recipe (1 when absent). */
  readonly weight?: number;
  /** Work as it is stored, of work as it was sent. BAD_USER_INPUT for what is missing or contradicts itself. */
  normalize?(work: Work): Work;
  /** What a model takes none of, field by field. Without limits only what holds for all models. */
  problems?(work: Work, limits: Limits): readonly Problem[];
}

/** An input that is a file, or holds several. */
export interface FileRule<Value = unknown> {
  readonly kind: FileKind;
  /** What refusals call it, where that is not its name. */
  readonly field?: string;
  /** How it holds several files. */
  readonly holds?: NonNullable<Value> extends readonly unknown[]
    ? 'list'
    : NonNullable<Value> extends InputRef
      ? undefined
      : 'list' | 'names';
}

/** What the files of a result are. */
export interface ResultKind {
  /** Beginning of their names, before the number. */
  readonly name: string;
  /** Beginnings of the measured types that they may have; anything else (an error page) is refused. */
  readonly types: readonly string[];
  /** What the refusal calls it. */
  readonly label: string;
  /** Whether a result without a file is none; else texts and facts alone are one. */
  readonly needsFile: boolean;
}

/** The rules of some kinds, by their names. */
export type RulesOf<Work extends { readonly kind: string }> = {
  readonly [Kind in Work['kind']]: KindRules<Extract<Work, { readonly kind: Kind }>>;
};

/** Names of the members that hold files: one, a list, or several by name. */
type FileInputs<Work> = {
  [Name in keyof Work]-?: NonNullable<Work[Name]> extends
    | InputRef
    | readonly InputRef[]
    | Readonly<Record<string, InputRef>>
    ? Name
    : never;
}[keyof Work];

/** How long most attempts may take, and those of videos, graphs and whatever must be learned first, in seconds. */
export const USUAL_SECONDS = 900;
export const LONG_SECONDS = 1_800;

/** What most kinds make. */
export const IMAGES: ResultKind = { name: 'result', types: ['image/'], label: 'an image', needsFile: true };
export const VIDEO_FILE: ResultKind = { name: 'video', types: ['video/'], label: 'a video', needsFile: true };
