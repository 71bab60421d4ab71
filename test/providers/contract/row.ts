import type { FaultName } from '../../../sandbox/faults/faults.ts';
import type { WorkRequest } from '../../../subgraphs/media/domain/work/request.ts';
import type { CallContext, Provider } from '../../../subgraphs/media/providers/contract/provider.ts';
import type { Environment } from '../environment/environment.ts';
import type { ScriptedResponse } from '../environment/recording-proxy.ts';
import type { Fixture, SentFields } from './wire-shape.ts';

/** One provider as the contract suite tries it. */
export interface ContractRow {
  /** Folder in providers/, name in the registry, name of the wire in the sandbox. */
  readonly provider: string;
  /** Which of its APIs, where it speaks several. */
  readonly api?: string;
  /** Path of the base URL on the stand-in. */
  readonly basePath: string;
  /** The header set of a real binding. */
  readonly headers: Readonly<Record<string, string>>;
  /** What it signs with, where it signs by itself. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** Paths of its other services on the stand-in, by name. */
  readonly endpoints?: Readonly<Record<string, string>>;
  /** Model of its binding, where the API goes by it (default: the adapter's own). */
  readonly model?: string;
  readonly fixture: Fixture;
  readonly jobs: readonly JobRow[];
  readonly short: readonly ShortRow[];
}

/** Long work: started, then asked for. `operation` is its name in the fixture and in the sandbox. */
export interface JobRow {
  readonly kind: WorkRequest['kind'];
  readonly operation: string;
  /** Where this work goes, when not to the row's own base path. */
  readonly basePath?: string;
  /** The request, or what makes it of a world: addresses of its inputs, or what must be there before. */
  readonly request: WorkRequest | ((world: Environment) => WorkRequest | Promise<WorkRequest>);
  /** What the start must carry, besides the reference. */
  readonly fields: SentFields;
  /** The field that carries the reference; or `{ header }`, or null where the wire has no place for it. */
  readonly referenceField: string | { readonly header: string } | null;
  /** What the wire carries for a reference, where that is not the reference itself. */
  readonly carried?: (reference: string) => string;
  /** Names of the other operations. */
  readonly operations: {
    readonly status: string;
    readonly list: string;
    readonly cancel: string;
    readonly erase?: string;
    readonly download: string;
    /** Documented requests that may go along with a start or a status. */
    readonly besides?: readonly string[];
  };
  /** Faults that this wire has no words for. */
  readonly unplayed?: readonly FaultName[];
  /** What it answers to somebody whose credentials are refused, where it can not tell (default: it fails, and says so). */
  readonly refusedAs?: { readonly find?: 'unknowable' };
  /** Whether a start can be looked for by its reference (default: whether the provider can). */
  readonly canFind?: boolean;
  /** What its results are, where they are not images that anybody may fetch, that can be seen early and whose addresses expire. */
  readonly results?: ResultTraits;
  /** How many files it hands over before its start, each kept by the stand-in as a job of its own (default none). */
  readonly handsOver?: number;
  /** Whether it can be cancelled while it runs (default yes). */
  readonly cancelsRunning?: boolean;
  /** Whether what was cancelled while it waited is not known afterwards. */
  readonly forgetsCancelled?: boolean;
  /** Whether its status is asked for by POST, which follows no redirect (default no). */
  readonly postsStatus?: boolean;
  /** Whether its status tells how far it is (default yes). */
  readonly tellsProgress?: boolean;
  /** Whether its status tells waiting from running (default yes). */
  readonly tellsWaiting?: boolean;
  /** A status answer whose state is a word that nobody knows. */
  readonly unknownState: ScriptedResponse;
  /** Most bytes of a status that are read (default 4 MB). */
  readonly mostStatusBytes?: number;
  readonly outcome: { readonly files: number; readonly texts: number };
}

/** What is not so of every result. */
interface ResultTraits {
  /** How its bytes begin (default PNG). */
  readonly type?: 'png' | 'mp4';
  /** Fetched with the connection's own credentials. */
  readonly needsKey?: boolean;
  /** The same, but its address names the upstream's own host: before the suite's proxy the adapter must not show the key, so the suite does. */
  readonly needsKeyAtHome?: boolean;
  /** Its address never changes. */
  readonly isLasting?: boolean;
  /** Nothing can be seen before the end. */
  readonly isHidden?: boolean;
}

/** Work that is answered at once. */
export interface ShortRow {
  readonly title: string;
  readonly operation: string;
  /** Documented requests that go before it. */
  readonly before?: readonly string[];
  readonly fields: SentFields;
  /** Whether a start is counted by its reference (Idempotency-Key). */
  readonly hasReference: boolean;
  /** The answer is a file of which a half can't be told from a whole here; the engine measures it. */
  readonly isFile?: boolean;
  /** Faults that this wire has no words for, or tells in words of its own. */
  readonly unplayed?: readonly FaultName[];
  /** Whether work that is given up may be interrupted at the upstream (default: it is carried out). */
  readonly isInterrupted?: boolean;
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
    images: [],
    ...change,
  };
}

/** The reference of the start that a test makes, unless it says another. */
export const REFERENCE = '01890000-0000-7000-8000-000000000001/1/1';

type VideoRequest = Extract<WorkRequest, { kind: 'VIDEO' }>;

/** A plain video request. */
export function videoRequest(change: Partial<VideoRequest> = {}): VideoRequest {
  return {
    kind: 'VIDEO',
    prompt: 'a lighthouse',
    ...change,
  };
}
