import type { FileUpload } from 'graphql-upload-minimal';

import type { Caller } from '../../../platform/access/caller.ts';
import type { Json } from '../../../platform/json.ts';
import type { Task } from '../domain/task.ts';
import type { StepKind, workKinds, WorkOf } from '../domain/work/work.ts';
import type { StoredFile } from '../files/files.ts';
import type { StoreUploadOptions } from '../uploads/store-upload.ts';

/**
 * Turns requests into submissions of tasks: stores or recognises files, copies templates, checks inputs, and builds the
 * fingerprint. Implemented by createSubmissionService (service.ts).
 */
export interface SubmissionService extends KindSubmissions {
  /** Starts a recipe by the task type of a living video template. */
  createTask: Submit<RecipeRequest>;
  /** Fills a bundled comfy workflow, or takes a whole graph; a graph that can't be one is refused, naming the node. */
  runComfyWorkflow: Submit<ComfyRequest>;
  /** startTask: the same work under an id and for an owner that the requester chose; the same id again is the same task. */
  startTask(caller: Caller, request: StartRequest, options: { readonly signal: AbortSignal }): Promise<Task>;
  /**
   * Throws what startTask would refuse because of the work itself; with `fetchInputs` also BAD_USER_INPUT for an input
   * that can't be fetched or is of the wrong kind. Starts nothing.
   */
  checkStart(
    caller: Caller,
    start: StartRequest['start'],
    options: {
      readonly fetchInputs: boolean;
      /** Whose budgets are asked; null: none. */
      readonly account: string | null;
      readonly signal: AbortSignal;
    },
  ): Promise<void>;
  /** Stores a file for the caller: for good, or for an hour unless a task claims it. */
  uploadFile(caller: Caller, upload: Promise<FileUpload>, options: StoreUploadOptions): Promise<StoredFile>;
}

/** Submits one kind of request. */
export type Submit<Request> = (caller: Caller, request: Request, options: SubmissionOptions) => Promise<Task>;

/** The kinds of work that are requested by their own inputs. */
export type PlainKind = Exclude<StepKind, 'COMFY_WORKFLOW'>;

/** One submission per kind of work, by the name of its mutation. */
export type KindSubmissions = {
  readonly [Kind in PlainKind as (typeof workKinds)[Kind]['mutation']]: Submit<RequestFor<Kind>>;
};

/** The inputs of work as callers send them: null and absent are the same, files come in any of three ways. */
export type RequestFor<Kind extends PlainKind> = Sent<
  Omit<WorkOf<Kind, MediaInput>, FilledIn<Kind> | 'options'>
> & {
  /** An object: the names of the model's vendor, and values. */
  readonly options?: Json | undefined;
};

/** What callers need not send: the kind, and the generator where there is a usual one. */
type FilledIn<Kind extends PlainKind> =
  | 'kind'
  | ((typeof workKinds)[Kind] extends { readonly generator: string } ? 'generator' : never);

type Sent<Shape> = { readonly [Name in RequiredIn<Shape>]: Shape[Name] } & {
  readonly [Name in Exclude<keyof Shape, RequiredIn<Shape>>]?: Shape[Name] | null | undefined;
} & { readonly generator?: string | null | undefined };

type RequiredIn<Shape> = {
  [Name in keyof Shape]-?: object extends Pick<Shape, Name> ? never : Name;
}[keyof Shape];

export interface SubmissionOptions {
  readonly idempotencyKey: string | null;
  /** Seconds from its acceptance in which running work is answered to its key again; absent: any work, for a day after its end. */
  readonly joinSeconds?: number | null | undefined;
  /** Address that the result webhook is sent to. */
  readonly callbackUrl?: string | null | undefined;
  /** Aborted when the caller hangs up: stops an upload that is still coming in. */
  readonly signal: AbortSignal;
}

/** A file among the inputs, in exactly one of three ways. */
export interface MediaInput {
  /** A public address, or one of our own file addresses. */
  readonly url?: string | null | undefined;
  readonly upload?: Promise<FileUpload> | null | undefined;
  /** The id of a file of ours. */
  readonly fileId?: string | null | undefined;
}

/** Work in several steps, by its `task_type`. */
export interface RecipeRequest {
  readonly taskType: string;
  readonly prompt: string;
  readonly image?: MediaInput | null | undefined;
  readonly aspectRatio?: string | null | undefined;
  /** An object: image and video, each the names of the model's vendor and values. */
  readonly options?: Json | null | undefined;
}

/** Exactly one of workflow, workflowName and model. */
export interface ComfyRequest {
  /** A whole graph: node id -> { class_type, inputs }. */
  readonly workflow?: unknown;
  /** Name of a bundled or saved comfy workflow. */
  readonly workflowName?: string | null | undefined;
  /** The same as `workflow/<name>`. */
  readonly model?: string | null | undefined;
  /** Of a saved one; absent: the published one. */
  readonly version?: number | null | undefined;
  /** Values for its declared inputs, or for `<node id>.<input name>` of a whole graph. */
  readonly inputs?: unknown;
  /** The same as `inputs`. */
  readonly options?: unknown;
  readonly node?: string | null | undefined;
}

/** A task on behalf of the workflow service, which chose its id and knows its owner. */
export interface StartRequest {
  readonly id: string;
  readonly owner: string;
  /** Queue that gets a job at the end. */
  readonly onEnd: string | null;
  /** Whether it is what somebody has bought. */
  readonly sold: boolean;
  /** Exactly one of them. */
  readonly start: {
    readonly recipe?: RecipeRequest | null | undefined;
    readonly image?: RequestFor<'IMAGE'> | null | undefined;
    readonly video?: RequestFor<'VIDEO'> | null | undefined;
    readonly comfy?: ComfyRequest | null | undefined;
  };
}
