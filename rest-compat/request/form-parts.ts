import { AppError, type AppErrorCode } from '../../platform/errors.ts';
import type { Problem } from '../replies/validation.ts';
import { namesOf } from '../route/names.ts';
import type { Param, UploadedFile } from '../route/params.ts';
import type { Route } from '../route/route.ts';
import type { IncomingFile } from './body/file-part.ts';
import type { FormOptions } from './body/form.ts';

/**
 * Which file parts of a form are stored, and what is said of those that can't be: what is wrong with the request comes
 * before what is wrong with a file.
 */

/** The file parameters of a route by documented name. */
export type FileParams = readonly (readonly [string, Param<unknown>])[];

interface StoringOptions {
  readonly route: Route;
  readonly store: (file: IncomingFile, param: Param<unknown>) => Promise<UploadedFile>;
}

/** What a file can be told to be unfit for: the rest of the form is read all the same, as its problems come first. */
const refusals: ReadonlySet<AppErrorCode> = new Set(['BAD_USER_INPUT', 'NOT_CONFIGURED']);

/** Stores the file parts of a form, unless it is known already that the request is refused. */
export function createStoring(
  { route, store }: StoringOptions,
  fileParams: FileParams,
  /** Of the whole request, as far as it was read. */
  problems: Problem[],
) {
  const [first] = fileParams;
  let unwanted: Problem | undefined;
  let refused: AppError | undefined;
  const storePart: NonNullable<FormOptions['store']> = async (file, before) => {
    unwanted ??= problemIn(route, before);
    if (first === undefined || unwanted !== undefined) return null;
    try {
      return await store(file, paramFor(file.field, fileParams) ?? first[1]);
    } catch (error) {
      if (!(error instanceof AppError) || !refusals.has(error.code)) throw error;
      refused ??= error;
      return null;
    }
  };
  return {
    // A request that is refused already, or an operation without files, stores none.
    store: first === undefined || problems.length > 0 ? null : storePart,
    /** Once everything is read: throws what a part was refused for, unless something is wrong with the request itself. */
    settle(): void {
      if (problems.length > 0) return;
      // The field that kept a part from being stored came again with another value.
      if (unwanted !== undefined) problems.push(unwanted);
      else if (refused !== undefined) throw refused;
    },
  };
}

/** The first thing that is wrong with the text fields of a form that has not ended. */
function problemIn({ params }: Route, fields: ReadonlyMap<string, string>): Problem | undefined {
  for (const [name, param] of Object.entries(params)) {
    const key = param.in === 'form' ? namesOf(name).find((candidate) => fields.has(candidate)) : undefined;
    const raw = key === undefined ? '' : fields.get(key);
    const reading = raw === '' ? null : param.read(raw);
    if (reading !== null && 'problem' in reading) return { loc: ['body', name], ...reading.problem };
  }
  return undefined;
}

function paramFor(field: string, params: FileParams): Param<unknown> | undefined {
  return params.find(([name]) => namesOf(name).includes(field))?.[1];
}
