import { UpstreamError } from '../../../domain/failure.ts';
import type { InputFile } from '../../../domain/inputs/input.ts';
import { filesOf, withFiles } from '../../../domain/work/files.ts';
import { requestOf, type WorkRequest } from '../../../domain/work/request.ts';
import type { StepInput } from '../../../domain/work/work.ts';
import { modelFor } from '../../../generators/limits/limits.ts';
import { prepareFile, type InputDependencies, type InputOptions } from './input-files.ts';

/** A step's input as its provider takes it. Throws UpstreamError INVALID_INPUT, naming the field, when an input can't be had. */
export async function prepareRequest(
  dependencies: InputDependencies,
  input: StepInput,
  options: Omit<InputOptions, 'timeout'>,
): Promise<WorkRequest> {
  const timeout = AbortSignal.timeout(dependencies.limits.inputsTimeoutMs);
  const files: InputFile[] = [];
  // In sequence: a foreign host gets one request at a time.
  for (const { file, ...field } of filesOf(input)) {
    files.push(await prepareFile(dependencies, file, field, { ...options, timeout }));
  }
  const request = requestOf(withFiles(input, files), modelFor(options.binding, input));
  if (request !== null) return request;
  throw new UpstreamError('INVALID_INPUT', 'audio: is needed', { field: 'audio' });
}

/** Whether preparing this input fetches something first. */
export function fetchesInput(input: StepInput): boolean {
  return filesOf(input).some(({ file }) => 'url' in file);
}
