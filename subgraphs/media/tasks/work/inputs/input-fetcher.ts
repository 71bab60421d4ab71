import { internalCaller } from '../../../../../platform/access/caller.ts';
import { invalidInput } from '../../../domain/failure.ts';
import { wrongFormat, type FileKind } from '../../../domain/inputs/file-kinds.ts';
import { DEFAULT_LIMITS } from '../attempts/limits.ts';
import { fetchFile, type InputDependencies } from './input-files.ts';

/** An input at a foreign address. */
interface ForeignInput {
  readonly url: string;
  readonly field: string;
  /** What it must be. */
  readonly kind: FileKind;
  readonly signal: AbortSignal;
}

/** Milliseconds for one input: somebody waits for the check. */
const TIMEOUT_MS = 30_000;

/** Fetches inputs as the worker will, for checks before anything is paid. What was fetched is deleted after a while. */
export function createInputFetcher(parts: Pick<InputDependencies, 'http' | 'files'>) {
  const { id: owner } = internalCaller('');
  const dependencies = { ...parts, limits: { ...DEFAULT_LIMITS, inputsTimeoutMs: TIMEOUT_MS } };
  /** Throws UpstreamError INVALID_INPUT, naming the field, when the file can't be had or is of the wrong kind. */
  return async ({ url, field, kind, signal }: ForeignInput): Promise<void> => {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const { contentType } = await fetchFile(dependencies, url, field, { owner, signal, timeout });
    const wrong = wrongFormat(kind, contentType);
    if (wrong !== null) throw invalidInput(field, wrong);
  };
}
