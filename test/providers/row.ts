import type { CallContext, Provider, WorkRequest } from '../../subgraphs/media/providers/provider.ts';
import type { ScriptedAnswer } from './door.ts';
import type { Fixture, SentFields } from './wire-shape.ts';

/** One provider as the contract suite tries it. */
export interface ContractRow {
  /** Folder in providers/, name in the registry, name of the wire in the sandbox. */
  readonly provider: string;
  /** Path of the base URL on the stand-in. */
  readonly basePath: string;
  /** The header set of a real binding. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fixture: Fixture;
  readonly jobs: readonly JobRow[];
  readonly short: readonly ShortRow[];
}

/** Long work: started, then asked for. `operation` is its name in the fixture and in the sandbox. */
export interface JobRow {
  readonly kind: WorkRequest['kind'];
  readonly operation: string;
  readonly request: WorkRequest;
  /** What the start must carry, besides the reference. */
  readonly fields: SentFields;
  /** The field that carries the reference. */
  readonly referenceField: string;
  /** Names of the other operations. */
  readonly operations: {
    readonly status: string;
    readonly list: string;
    readonly cancel: string;
    readonly download: string;
  };
  /** A status answer whose state is a word that nobody knows. */
  readonly unknownState: ScriptedAnswer;
  readonly outcome: { readonly files: number; readonly texts: number };
}

/** Work that is answered at once. */
export interface ShortRow {
  readonly title: string;
  readonly operation: string;
  readonly fields: SentFields;
  /** Whether a start is counted by its reference (Idempotency-Key). */
  readonly hasReference: boolean;
  /** Does it: a call, or a chat. */
  run(provider: Provider, context: CallContext & { readonly reference: string }): Promise<unknown>;
  /** Fails unless the answer is what was asked for. */
  check(answer: unknown): void;
}

export type ImageRequest = Extract<WorkRequest, { kind: 'IMAGE' }>;

/** A plain image request. */
export function imageRequest(change: Partial<ImageRequest> = {}): ImageRequest {
  return {
    kind: 'IMAGE',
    prompt: 'a lighthouse',
    negativePrompt: null,
    images: [],
    aspectRatio: null,
    resolution: null,
    count: null,
    seed: null,
    speedMode: null,
    ...change,
  };
}
